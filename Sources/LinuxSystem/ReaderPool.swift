internal import CLinux

/// Processes that read, and the socket to them (`clinux_reader.h`).
final class ReaderPool {
    let readers = UnsafeMutablePointer<clx_readers>.allocate(capacity: 1)
    private let hasBegun: Bool

    /// - Throws: as of socketpair(2).
    init() throws(SystemError) {
        let error = clx_readers_begin(readers)
        hasBegun = error == 0
        guard hasBegun else { throw SystemError(operation: "socketpair", errno: error) }
    }

    deinit {
        if hasBegun { clx_readers_end(readers) }
        readers.deallocate()
    }
}
