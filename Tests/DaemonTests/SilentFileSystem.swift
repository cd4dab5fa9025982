import Glibc

/// A file system in user space whose server reads what it is asked and never answers (fuse(4)): whoever asks
/// waits in the kernel, and no signal ends that wait.
///
/// Ended with the value that stands for it, and the waiting with it.
final class SilentFileSystem {
    let path: String
    private var device: Int32 = -1

    /// Why there can be none here; `nil` where there can.
    static let refusal: String? = {
        let device = open("/dev/fuse", O_RDWR | O_CLOEXEC)
        if device >= 0 { close(device) }
        return device >= 0 && geteuid() == 0 ? nil : "takes /dev/fuse and root"
    }()

    /// Mounts it in a folder, which it makes.
    init(in folder: TemporaryFolder) throws {
        path = folder.path + "/silent"
        mkdir(path, 0o755)
        device = open("/dev/fuse", O_RDWR | O_CLOEXEC)
        let options = "fd=\(device),rootmode=40000,user_id=0,group_id=0,allow_other"
        guard device >= 0, mount("silent", path, "fuse", 0, options) == 0 else {
            throw Child.CannotStart(program: "mount \(path)", errno: errno)
        }
        try answerFirst()
    }

    deinit { end() }

    /// Ends the connection, by which all that waits fails.
    func end() {
        guard device >= 0 else { return }
        umount2(path, Int32(MNT_DETACH))
        close(device)
        device = -1
    }

    /// Takes the next request, after which nothing but an answer ends the wait of whoever sent it.
    func takeRequest() throws {
        var wanted = pollfd(fd: device, events: Int16(POLLIN), revents: 0)
        guard poll(&wanted, 1, 60_000) == 1 else {
            throw NeverHappened(description: "never came about: a request to \(path)")
        }
        _ = try read()
    }

    private func read() throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 1 << 17)
        let count = Glibc.read(device, &bytes, bytes.count)
        guard count > 0 else { throw Child.CannotStart(program: "read /dev/fuse", errno: errno) }
        return Array(bytes.prefix(count))
    }

    /// Answers FUSE_INIT: version 7.31, nothing else wanted.
    private func answerFirst() throws {
        let unique = Array(try read()[8..<16])
        func words(_ values: [UInt32]) -> [UInt8] {
            values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) } }
        }
        let answer = words([7, 31, 0, 0, 0, 4096, 1] + [UInt32](repeating: 0, count: 9))
        let reply = words([UInt32(16 + answer.count), 0]) + unique + answer
        guard write(device, reply, reply.count) == reply.count else {
            throw Child.CannotStart(program: "write /dev/fuse", errno: errno)
        }
    }
}
