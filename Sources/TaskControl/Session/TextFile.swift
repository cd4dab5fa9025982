internal import Glibc
internal import LinuxSystem

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
        let folder = try openFolder()
        try checkReplaceable(in: folder.rawValue)
        let temporary = try Temporary(for: self, in: folder.rawValue)
        var code = fill(temporary.file.rawValue, text)
        if fchmod(temporary.file.rawValue, 0o644) != 0 { code = code ?? errno }
        if close(temporary.file.take()) != 0 { code = code ?? errno }
        if code == nil, renameat(folder.rawValue, temporary.name, folder.rawValue, name) != 0 {
            code = errno
        }
        guard let code else { return }
        unlinkat(folder.rawValue, temporary.name, 0)
        throw failure(code)
    }

    /// Opens the folder of the file, so that no stranger has chosen which: what root writes where others may have put a
    /// link would be a file of root's in a folder of their choice.
    ///
    /// A stranger's folder may be on the way, as Debian's /var/lib/prometheus is, or a link, but not both.
    private func openFolder() throws(Failure) -> OwnedDescriptor {
        do throws(SystemError) {
            return try OwnedDescriptor.folder(folder, followsLinks: false)
        } catch {
            guard error.errno == ELOOP else { throw failure(error.errno) }
        }
        do throws(UnsafePath) {
            try PathTrust(user: geteuid()).check(folder: folder)
        } catch {
            throw Failure(
                VisibleText.oneLine("cannot write \(path): it is behind a link, and \(error)"),
                status: ExitStatus.refused)
        }
        do throws(SystemError) {
            return try OwnedDescriptor.folder(folder, followsLinks: true)
        } catch {
            throw failure(error.errno)
        }
    }

    /// A file beside the one that it is to replace.
    private struct Temporary: ~Copyable {
        let file: OwnedDescriptor
        let name: String

        init(for text: TextFile, in folder: Int32) throws(Failure) {
            while true {
                // What reads all files of a folder goes by how their names end.
                let name = ".\(text.name).\(String(UInt32.random(in: 0 ... .max), radix: 36))"
                let file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
                if file >= 0 {
                    self.file = OwnedDescriptor(file)
                    self.name = name
                    return
                }
                guard errno == EEXIST else { throw text.failure(errno) }
            }
        }
    }

    /// Makes sure that there is nothing, a file, or a link to one of these.
    private func checkReplaceable(in folder: Int32) throws(Failure) {
        var status = stat()
        guard fstatat(folder, name, &status, 0) == 0 else { return }
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
