internal import CLinux
internal import Glibc

/// Reads a file of /proc that tells of a process of somebody, without the line of its groups (`clinux_reader.h`).
///
/// - Parameters:
///   - folder: what a relative path begins at.
///   - countMax: 8192 at most.
/// - Throws: ENOENT or ESRCH where there is no such process; ETIMEDOUT or EBUSY where nobody can tell now.
package func readOfProcess(
    _ path: String, relativeTo folder: Int32 = -1, countMax: Int = Int(CLX_READ_MAX)
) throws(SystemError) -> [UInt8] {
    // With room for the NUL.
    var text = [CChar](repeating: 0, count: countMax + 1)
    let count = try systemCall("read", path) {
        clx_read_of_process(folder, path, &text, text.count)
    }
    return text.prefix(count).map(UInt8.init(bitPattern:))
}

/// Has the calling thread's looks at processes done by processes of their own, which share nothing with this one.
package final class ProcessReaders {
    private let make: () throws(SystemError) -> OwnedDescriptor

    /// - Parameter make: returns the socket of a closer's process.
    package init(_ make: @escaping () throws(SystemError) -> OwnedDescriptor) {
        self.make = make
        clx_reader_begin(
            { context in
                guard let context else { return -1 }
                let readers = Unmanaged<ProcessReaders>.fromOpaque(context).takeUnretainedValue()
                return (try? readers.make())?.take() ?? -1
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// To be let go of in the same thread.
    deinit { clx_reader_end() }
}
