internal import CLinux
internal import Glibc

/// Has sockets and folders removed on which strangers may have mounted something, by processes that share nothing with this one
/// (`clinux_remover.h`).
package final class NameRemover {
    private let remover: UnsafeMutablePointer<clx_remover>
    private let root: OwnedDescriptor
    private var asideCount = 0
    private var hasEnded = false

    /// How long an end or a start waits for one that says nothing.
    package static let endMillisecondsMax: Int32 = 1000

    /// - Throws: as of socketpair(2).
    package init() throws(SystemError) {
        root = try .open("/", flags: O_RDONLY | O_DIRECTORY)
        remover = .allocate(capacity: 1)
        let error = clx_remover_begin(remover, root.rawValue)
        guard error == 0 else {
            remover.deallocate()
            throw SystemError(operation: "socketpair", errno: error)
        }
    }

    /// What was named is removed all the same.
    deinit {
        _ = end(milliseconds: 0)
        remover.deallocate()
    }

    /// Has a socket, or a folder with nothing in it but sockets and folders, removed. Where that can be, its name is free at once:
    /// it gets another first, which lets go of nothing. Nothing where it is not there.
    ///
    /// - Parameter path: absolute, in a folder that nobody else may change.
    /// - Throws: EAGAIN where too many wait.
    package func remove(_ path: String) throws(SystemError) {
        var name = path
        if !Self.isAside(path.split(separator: "/").last ?? "") {
            // Never one that was there: to rename over that would remove it here.
            asideCount += 1
            let aside = "\(path)\(Self.asideMark)\(MonotonicClock.now())-\(asideCount)"
            if rename(path, aside) == 0 {
                name = aside
            } else if errno == ENOENT {
                return
            }
        }
        let error = clx_remover_remove(remover, name)
        guard error == 0 else {
            throw SystemError(operation: "send", errno: error, subject: name)
        }
    }

    /// Whether something in a folder was to be removed by a process that was ended.
    static func isAside(_ name: some StringProtocol) -> Bool { name.contains(asideMark) }

    private static let asideMark = ".removed-"

    /// After how many milliseconds it is to be asked again for ``lacksProcess``, if nothing else is named before; `nil` for
    /// never.
    package var nextLook: Int64? {
        let milliseconds = clx_remover_next_look(remover)
        return milliseconds < 0 ? nil : Int64(milliseconds)
    }

    /// Whether it needs another process: there is none, or all are held up. Lets go of those that have ended.
    package var lacksProcess: Bool {
        clx_remover_lacks_process(remover, UInt64(MonotonicClock.now()))
    }

    /// Gives it a closer's process, with its socket.
    fileprivate func employ(_ process: consuming OwnedDescriptor) throws(SystemError) {
        let error = clx_remover_employ(remover, process.take())
        guard error == 0 else { throw SystemError(operation: "sendmsg", errno: error) }
    }

    /// Waits until all is removed, or nothing has been for so long (ten times as long at most). Nothing can be removed after that.
    ///
    /// - Returns: whether nothing is held up.
    package func end(milliseconds: Int32) -> Bool {
        guard !hasEnded else { return true }
        hasEnded = true
        return clx_remover_end(remover, milliseconds)
    }
}

extension CloserProcess.Maker {
    /// Makes a process for a remover that lacks one.
    ///
    /// - Throws: EPIPE where the maker has ended; as of socketpair(2).
    package func make(for remover: NameRemover) throws(SystemError) {
        try remover.employ(makeProcess())
    }

    /// Has a folder removed with all folders in it, and waits for that a moment.
    ///
    /// - Throws: EBUSY where it is there still: there is a process in it, or its removal is held up.
    package func removeNow(_ folder: String) throws(SystemError) {
        let remover = try NameRemover()
        try remover.remove(folder)
        try make(for: remover)
        _ = remover.end(milliseconds: NameRemover.endMillisecondsMax)
        guard access(folder, F_OK) != 0 else {
            throw SystemError(operation: "rmdir", errno: EBUSY, subject: folder)
        }
    }
}
