internal import CLinux
internal import Glibc

/// Why a path is not safe to use: somebody else could put something else there.
package struct UnsafePath: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file or folder that somebody else can change: the one that was asked for, or one above it.
    package let path: String
    package let reason: String

    package var description: String { "\(path) \(reason)" }
}

/// Whom files and folders have to belong to, so that what is in them is not somebody else's choice.
///
/// Root may change everything anyhow. A folder that everybody may write is safe only where the sticky
/// bit keeps each to their own (inode(7)).
package struct PathTrust {
    private let user: UInt32
    /// Many systems give each user a group of their own, so that its members are no strangers to them;
    /// to root they are.
    private var strangers: UInt32 { user == 0 ? S_IWGRP | S_IWOTH : S_IWOTH }

    /// - Parameter user: who relies on the files.
    package init(user: UInt32) {
        self.user = user
    }

    /// Checks a folder that nobody else may write at all, and those above it.
    ///
    /// A folder that is not there yet is judged by those above it.
    ///
    /// - Throws: the first that is not safe.
    package func check(privateFolder path: String) throws(UnsafePath) {
        try check(folder: path)
        guard let status = status(of: path) else { return }
        guard status.st_uid == user else {
            throw UnsafePath(path: path, reason: "belongs to user \(status.st_uid), not to \(user)")
        }
        guard status.st_mode & strangers == 0 else { throw writable(path, status) }
    }

    /// Checks a folder in which others may have files of their own, and those above it.
    package func check(folder path: String) throws(UnsafePath) {
        for folder in Self.folders(downTo: path) {
            guard let status = status(of: folder) else { return }
            guard status.st_uid == 0 || status.st_uid == user else {
                throw UnsafePath(path: folder, reason: "belongs to user \(status.st_uid)")
            }
            guard status.st_mode & strangers == 0 || status.st_mode & S_ISVTX != 0 else {
                throw writable(folder, status)
            }
        }
    }

    private func writable(_ path: String, _ status: stat) -> UnsafePath {
        let mode = String(status.st_mode & 0o7777, radix: 8)
        return UnsafePath(path: path, reason: "can be written by others (its mode is \(mode))")
    }

    private func status(of path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// The folders from the root down to a path, links in it followed as far as it is there.
    private static func folders(downTo path: String) -> [String] {
        var existing = path
        var missing: [Substring] = []
        while true {
            if let real = realpath(existing, nil) {
                defer { free(real) }
                existing = String(cString: real)
                break
            }
            guard let slash = existing.lastIndex(of: "/"), existing != "/" else { break }
            missing.insert(existing[existing.index(after: slash)...], at: 0)
            existing = slash == existing.startIndex ? "/" : String(existing[..<slash])
        }
        var folders = ["/"]
        for part in existing.split(separator: "/") + missing {
            folders.append((folders.last == "/" ? "" : folders.last ?? "") + "/" + part)
        }
        return folders
    }
}
