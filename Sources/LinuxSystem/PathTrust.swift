internal import CLinux
internal import Glibc

/// Why a path is not safe to use: somebody else could put something else there.
package struct UnsafePath: Error, Equatable, Sendable, CustomStringConvertible {
    /// The file or folder that somebody else can change: the one that was asked for, or one above it.
    package let path: String
    package let reason: String

    package var description: String { "\(path) \(reason)" }
}

/// Whom files and folders have to belong to, so that nobody else can choose what is in them.
///
/// Root may change everything anyhow. A link on the way is its owner's choice of where the way goes on, also
/// where nobody else can replace it. A folder that everybody may write is safe only where the sticky
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
        for folder in try folders(downTo: path) {
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

    /// The folders that are passed from the root down to a path, those included in which its links are;
    /// where something is missing, as the path names what is to come.
    ///
    /// - Throws: the first link that is somebody else's.
    private func folders(downTo path: String) throws(UnsafePath) -> [String] {
        var passed = ["/"]
        var current = "/"
        var rest = ArraySlice(Self.parts(of: Self.absolute(path)))
        var linksLeft = Self.linksMax
        while let part = rest.popFirst() {
            if part == "." { continue }
            let next = part == ".." ? Self.parent(of: current) : Self.path(current, part)
            if linksLeft > 0, let target = try target(ofLink: next) {
                linksLeft -= 1
                if target.rest(behind: "/") != nil { current = "/" }
                rest = Self.parts(of: target) + rest
            } else {
                current = next
                passed.append(current)
            }
        }
        return passed
    }

    /// Where a link leads; `nil` for what is no link or not there.
    private func target(ofLink path: String) throws(UnsafePath) -> String? {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else { return nil }
        guard status.st_uid == 0 || status.st_uid == user else {
            throw UnsafePath(path: path, reason: "is a link of user \(status.st_uid)")
        }
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        guard count >= 0 else { return nil }
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// As many as the kernel follows (path_resolution(7)).
    private static let linksMax = 40

    private static func parts(of path: String) -> [Substring] { path.parts(between: "/") }

    private static func path(_ folder: String, _ name: Substring) -> String {
        (folder == "/" ? "" : folder) + "/" + name
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(ofByte: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    private static func absolute(_ path: String) -> String {
        guard path.rest(behind: "/") == nil, let here = realpath(".", nil) else { return path }
        defer { free(here) }
        return String(cString: here) + "/" + path
    }
}
