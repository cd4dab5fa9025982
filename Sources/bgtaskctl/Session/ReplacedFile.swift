internal import Glibc

/// A file that others read while it is replaced: they find the old text or the new one, and never a part.
struct ReplacedFile {
    let path: String

    /// Replaces the text, and makes the file where it is missing; everybody may read it.
    ///
    /// Nothing waits for the disk: what a cut of the power spoils is soon written again.
    func write(_ text: String) throws(Failure) {
        // What reads all files of a folder goes by how their names end.
        var template = Array("\(folder)/.\(name).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure(errno) }
        let temporary = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let code = fill(descriptor, text) ?? (rename(temporary, path) == 0 ? nil : errno)
        guard let code else { return }
        unlink(temporary)
        throw failure(code)
    }

    private func fill(_ descriptor: Int32, _ text: String) -> Int32? {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR {
                let code = errno
                close(descriptor)
                return code
            }
        }
        let isReadable = fchmod(descriptor, 0o644) == 0
        let code = errno
        guard close(descriptor) == 0 else { return errno }
        return isReadable ? nil : code
    }

    private var folder: String {
        guard let end = path.lastIndex(of: "/") else { return "." }
        return String(path[..<end])
    }

    private var name: String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    private func failure(_ code: Int32) -> Failure {
        Failure("cannot write \(path): \(ErrorText.of(code))", status: ExitStatus.refused)
    }
}
