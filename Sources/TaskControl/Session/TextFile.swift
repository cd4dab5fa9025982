internal import Glibc

/// A file that a text is to be written into.
struct TextFile {
    let path: String

    /// Writes the whole text; what was in the file before is gone. It may also be a pipe or a device.
    func write(_ text: String) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw failure(errno) }
        let code = fill(descriptor, text)
        // What a file system in a network has not stored, it may say only now.
        guard close(descriptor) == 0 || errno == EINTR || code != nil else { throw failure(errno) }
        if let code { throw failure(code) }
    }

    /// Replaces the file by one with that text, which everybody may read: who reads it meanwhile finds the old text or
    /// the new one, and never a part. A device or a pipe is left alone: in its place, everybody would find a file.
    ///
    /// Nothing waits for the disk: what a cut of the power spoils is soon written again.
    func replace(with text: String) throws(Failure) {
        try checkReplaceable()
        // What reads all files of a folder goes by how their names end.
        var template = Array("\(folder)/.\(name).XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw failure(errno) }
        let temporary = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var code = fill(descriptor, text) ?? (fchmod(descriptor, 0o644) == 0 ? nil : errno)
        if close(descriptor) != 0 { code = code ?? errno }
        code = code ?? (rename(temporary, path) == 0 ? nil : errno)
        guard let code else { return }
        unlink(temporary)
        throw failure(code)
    }

    /// Makes sure that there is nothing, a file, or a link to one of these.
    private func checkReplaceable() throws(Failure) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw failure(EISDIR)
        default:
            throw Failure(
                "cannot replace \(VisibleText.oneLine(path)): it is a device, a pipe or a socket, and no file",
                status: ExitStatus.refused)
        }
    }

    /// - Returns: the error where not all of it could be written.
    private func fill(_ descriptor: Int32, _ text: String) -> Int32? {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    private var folder: String {
        guard let end = path.lastIndex(of: "/") else { return "." }
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    private var name: String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    private func failure(_ code: Int32) -> Failure {
        Failure(
            "cannot write \(VisibleText.oneLine(path)): \(ErrorText.of(code))",
            status: ExitStatus.refused)
    }
}
