import Glibc

/// Reads configuration files and folders.
package enum SettingsFile {
    /// A system call that failed.
    package struct Failure: Error, Equatable {
        let code: CInt
        let text: String

        init(_ code: CInt) {
            self.code = code
            text = String(cString: strerror(code))
        }

        /// Whether there is no such file.
        var isMissing: Bool { code == ENOENT }

        init(text: String) {
            code = EINVAL
            self.text = text
        }
    }

    /// More drop-in files than this are refused.
    static let filesMax = 1000

    /// Reads a regular file or a character device (`/dev/null` masks a file), at most one byte
    /// more than a document may have.
    package static func read(_ path: String) throws(Failure) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw Failure(errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure(errno) }
        let kind = status.st_mode & S_IFMT
        guard kind != S_IFDIR else { throw Failure(EISDIR) }
        guard kind == S_IFREG || kind == S_IFCHR else { throw Failure(text: "not a regular file") }
        if kind == S_IFREG { try checkTrust(status) }
        var content: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while content.count <= TOMLDocument.sizeMax {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { break }
            if count < 0 {
                if errno == EINTR { continue }
                throw Failure(errno)
            }
            content += buffer[..<count]
        }
        return content
    }

    /// The `*.toml` files of a folder by name, hidden ones left out; none where there is no folder.
    static func list(_ folder: String) throws(Failure) -> [String] {
        guard let stream = opendir(folder) else {
            if errno == ENOENT { return [] }
            throw Failure(errno)
        }
        defer { closedir(stream) }
        var status = stat()
        guard fstat(dirfd(stream), &status) == 0 else { throw Failure(errno) }
        try checkTrust(status)
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw Failure(errno) }
                break
            }
            guard let name = name(of: entry) else {
                throw Failure(text: "a file name is not UTF-8")
            }
            if name.hasSuffix(".toml"), !name.hasPrefix(".") { names.append(name) }
            guard names.count <= filesMax else {
                throw Failure(text: "more than \(filesMax) files")
            }
        }
        names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return names.map { "\(folder)/\($0)" }
    }

    /// Refuses what somebody else could have written: settings say who may do what.
    ///
    /// What is judged is what was opened, so that nothing can be put in its place in between.
    private static func checkTrust(_ status: stat) throws(Failure) {
        let user = geteuid()
        guard status.st_uid == 0 || status.st_uid == user else {
            throw Failure(text: "belongs to user \(status.st_uid); give it to root with chown")
        }
        // To an ordinary user the members of their own group are no strangers.
        let strangers = user == 0 ? S_IWGRP | S_IWOTH : S_IWOTH
        guard status.st_mode & strangers == 0 else {
            throw Failure(text: "can be written by others; end that with chmod go-w")
        }
    }

    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
