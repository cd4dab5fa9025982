internal import Glibc

/// Writes a file that somebody asked for.
enum OutputFile {
    /// Writes the whole text; what was in the file before is gone.
    static func write(_ text: String, to path: String) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(path, errno) }
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count >= 0 || errno == EINTR else {
                let code = errno
                close(descriptor)
                throw failure(path, code)
            }
            sent += max(0, count)
        }
        // What a file system in a network has not stored, it may say only now.
        guard close(descriptor) == 0 || errno == EINTR else { throw failure(path, errno) }
    }

    private static func failure(_ path: String, _ code: Int32) -> Failure {
        Failure("cannot write \(VisibleText.oneLine(path)): \(ErrorText.of(code))")
    }
}
