internal import Glibc
internal import LinuxSystem

/// Reserves ids in a file of the state folder, so that none is used again after a restart.
///
/// The file holds the last id that may have been used. A thread of its own writes it, since a disk may
/// take its time; the result comes back as an event on `descriptor`.
final class IdentifierFile: Sendable {
    /// How a reservation ended.
    enum Result: Sendable {
        case reserved(through: UInt64)
        case failed(String)
    }

    /// Ids reserved at the start.
    private static let blockSize: UInt64 = 1 << 20
    /// How long the end may wait for the disk.
    private static let closeMilliseconds: Int32 = 2000

    /// What loop and thread share.
    private struct Shared {
        var wanted: UInt64?
        var result: Result?
        /// Set at the end: what was really used.
        var lastUsed: UInt64?
    }

    private let path: String
    private let shared = LockedState(Shared())
    private let request: Int32
    private let answer: Int32
    /// Readable when the thread has ended.
    private let ended: Int32

    /// Readable when a reservation has ended.
    var descriptor: Int32 { answer }

    /// Reads what earlier runs reserved, and reserves the first block of this one before it returns.
    ///
    /// - Returns: the file, and the ids of this run.
    /// - Throws: `SystemError` where the file cannot be read or written.
    static func open(
        inFolder folder: String
    ) throws -> (file: IdentifierFile, identifiers: ClosedRange<UInt64>) {
        let path = folder + "/ids"
        let used = try read(path)
        guard used < UInt64(Int64.max) - blockSize else {
            throw SystemError(operation: "read", errno: ERANGE, subject: path)
        }
        try write(used + blockSize, to: path)
        return (try IdentifierFile(path: path), used + 1...used + blockSize)
    }

    private init(path: String) throws(SystemError) {
        self.path = path
        request = try OwnedDescriptor.event().take()
        answer = try OwnedDescriptor.event().take()
        ended = try OwnedDescriptor.event().take()
        try makeBlocking(request)
        let retained = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let error = pthread_create(
            &thread, nil,
            { argument in
                if let argument {
                    Unmanaged<IdentifierFile>.fromOpaque(argument).takeRetainedValue().serve()
                }
                return nil
            }, retained.toOpaque())
        guard error == 0 else {
            retained.release()
            throw SystemError(operation: "pthread_create", errno: error)
        }
        pthread_detach(thread)
    }

    deinit {
        Glibc.close(request)
        Glibc.close(answer)
        Glibc.close(ended)
    }

    /// Asks for ids up to and including `last`.
    func reserve(through last: UInt64) {
        shared.withLock { $0.wanted = last }
        signal(request)
    }

    /// Ends the thread, and gives the ids back that this run has reserved and not used, so that ids stay
    /// short for people over orderly restarts.
    func close(used: UInt64) {
        shared.withLock { $0.lastUsed = used }
        signal(request)
        var answers: UInt64 = 0
        var wanted = pollfd(fd: ended, events: Int16(POLLIN), revents: 0)
        _ = poll(&wanted, 1, IdentifierFile.closeMilliseconds)
        _ = Glibc.read(ended, &answers, 8)
    }

    /// What the last reservation came to; `nil` where none has ended since.
    func takeResult() -> Result? {
        var count: UInt64 = 0
        _ = Glibc.read(answer, &count, 8)
        return shared.withLock { state in
            defer { state.result = nil }
            return state.result
        }
    }

    private func serve() {
        while true {
            var count: UInt64 = 0
            _ = Glibc.read(request, &count, 8)
            let (wanted, lastUsed) = shared.withLock { state in
                defer { state.wanted = nil }
                return (state.wanted, state.lastUsed)
            }
            if let lastUsed {
                // Where it cannot be written the block is skipped, as after a crash.
                try? IdentifierFile.write(lastUsed, to: path)
                return signal(ended)
            }
            guard let wanted else { continue }
            let result: Result
            do {
                try IdentifierFile.write(wanted, to: path)
                result = .reserved(through: wanted)
            } catch {
                result = .failed("\(error)")
            }
            shared.withLock { $0.result = result }
            signal(answer)
        }
    }

    private func signal(_ descriptor: Int32) {
        var one: UInt64 = 1
        _ = Glibc.write(descriptor, &one, 8)
    }

    private static func read(_ path: String) throws -> UInt64 {
        if access(path, F_OK) != 0, errno == ENOENT { return 0 }
        let file = try OwnedDescriptor.open(path, flags: O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: 32)
        let count = Glibc.read(file.rawValue, &bytes, bytes.count)
        guard count >= 0 else { throw SystemError(operation: "read", errno: errno, subject: path) }
        let text = String(decoding: bytes.prefix(count), as: UTF8.self)
        guard text.hasSuffix("\n"), let number = UInt64(text.dropLast()) else {
            throw SystemError(
                operation: "read", errno: EINVAL, subject: path,
                detail: "it does not hold the number of the last id; ids must not be used again, "
                    + "so write a number there that is higher than any id you have seen")
        }
        return number
    }

    /// Replaces the file so that after a power cut it holds either number, whole.
    private static func write(_ number: UInt64, to path: String) throws(SystemError) {
        let temporary = path + ".new"
        let file = try OwnedDescriptor.open(
            temporary, flags: O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        let bytes = Array("\(number)\n".utf8)
        try check(Glibc.write(file.rawValue, bytes, bytes.count) == bytes.count, "write", temporary)
        try check(fsync(file.rawValue) == 0, "fsync", temporary)
        try check(rename(temporary, path) == 0, "rename", path)
        let folder = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        let directory = try OwnedDescriptor.open(folder, flags: O_RDONLY | O_DIRECTORY)
        try check(fsync(directory.rawValue) == 0, "fsync", folder)
    }

    private static func check(
        _ isDone: Bool, _ operation: String, _ subject: String
    ) throws(SystemError) {
        guard isDone else {
            throw SystemError(operation: operation, errno: errno, subject: subject)
        }
    }
}

/// Makes reads wait.
private func makeBlocking(_ descriptor: Int32) throws(SystemError) {
    let flags = fcntl(descriptor, F_GETFL)
    guard fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK) == 0 else {
        throw SystemError(operation: "fcntl", errno: errno)
    }
}
