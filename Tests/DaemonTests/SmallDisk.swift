import Glibc

/// A file system in memory that holds little, as the state folder of a daemon.
final class SmallDisk {
    /// The folder of the daemon, for whom the disk is the state folder in it.
    let folder: TemporaryFolder
    private let path: String
    private let options: String

    init(megabytes: Int = 4) throws {
        options = "size=\(megabytes)m,mode=700"
        folder = try TemporaryFolder()
        path = folder.path + "/state"
        mkdir(path, 0o700)
        guard mount("tmpfs", path, "tmpfs", 0, options) == 0 else {
            throw Child.CannotStart(program: "mount", errno: errno)
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
    }

    private var filler: String { path + "/filler" }

    /// Leaves no room for anything.
    func fill() throws {
        let file = open(filler, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Child.CannotStart(program: filler, errno: errno) }
        defer { close(file) }
        let bytes = [UInt8](repeating: 1, count: 4096)
        var count = bytes.count
        while count > 0 {
            if write(file, bytes, count) < 0 { count /= 2 }
        }
    }

    func makeRoom() {
        unlink(filler)
    }

    /// Has the disk take no writing, or take it again: once nobody writes, such as the executor of a daemon that has just ended.
    func remount(readOnly: Bool) throws {
        let flags = UInt(MS_REMOUNT) | (readOnly ? UInt(MS_RDONLY) : 0)
        try eventually("nobody writes there") {
            if mount("tmpfs", path, "tmpfs", flags, options) == 0 { return true }
            guard errno == EBUSY else {
                throw Child.CannotStart(program: "remount", errno: errno)
            }
            return false
        }
    }

    /// Why none can be had here; `nil` where it can.
    static let refusal: String? = {
        do {
            _ = try SmallDisk()
            return nil
        } catch let failure as Child.CannotStart {
            return String(cString: strerror(failure.errno))
        } catch {
            return "\(error)"
        }
    }()
}

/// Another program that works with the database of a daemon: sqlite3(1).
final class DatabaseVisitor {
    private static let program = "/usr/bin/sqlite3"
    private let daemon: DaemonProcess
    private var child: Child?

    /// Whether there is one.
    static var isThere: Bool { access(program, X_OK) == 0 }

    init(_ daemon: DaemonProcess) {
        self.daemon = daemon
    }

    private var path: String { daemon.statePath + "/tasks.db" }
    private var mark: String { daemon.folder.path + "/locked" }

    /// Locks the database until `unlock`.
    func lock() throws {
        let wait = "touch \(mark); while [ -e \(mark) ]; do sleep 0.05; done"
        child = try Child(
            Self.program,
            [path, ".timeout 60000", "BEGIN EXCLUSIVE", ".shell \(wait)", "ROLLBACK"],
            error: daemon.folder.path + "/sqlite3-log")
        try eventually("the database is locked") { Files.exists(mark) }
    }

    func unlock() throws {
        unlink(mark)
        guard try child?.waitForEnd() == .status(0) else {
            throw NeverHappened(description: Files.text(daemon.folder.path + "/sqlite3-log"))
        }
        child = nil
    }
}
