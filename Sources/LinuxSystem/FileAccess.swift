internal import CLinux
internal import Glibc

/// Reads a small file of /proc, /sys or a state folder, from its beginning. What is longer than
/// `countMax` bytes is cut.
package func readText(
    _ path: String,
    relativeTo folder: Int32? = nil,
    countMax: Int = 1 << 20
) throws(SystemError) -> String {
    String(
        decoding: try readBytes(path, relativeTo: folder, countMax: countMax), as: UTF8.self)
}

/// As `readText`.
package func readBytes(
    _ path: String,
    relativeTo folder: Int32? = nil,
    countMax: Int = 1 << 20
) throws(SystemError) -> [UInt8] {
    let file = try OwnedDescriptor.open(path, flags: O_RDONLY, relativeTo: folder)
    return try readBytes(of: file.rawValue, path, countMax: countMax)
}

/// Reads an open file from its beginning, wherever its offset is.
func readText(
    of descriptor: Int32,
    _ path: String,
    countMax: Int = 1 << 20
) throws(SystemError) -> String {
    String(decoding: try readBytes(of: descriptor, path, countMax: countMax), as: UTF8.self)
}

private func readBytes(
    of descriptor: Int32, _ path: String, countMax: Int
) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count < countMax {
        let offset = bytes.count
        let count = try systemCall("read", path) {
            pread(descriptor, &chunk, chunk.count, offset)
        }
        if count == 0 { break }
        bytes.append(contentsOf: chunk.prefix(count))
    }
    return bytes
}

/// Writes into an existing file in one call, as files of /sys/fs/cgroup want it.
package func writeText(
    _ text: String,
    to path: String,
    relativeTo folder: Int32? = nil
) throws(SystemError) {
    let file = try OwnedDescriptor.open(path, flags: O_WRONLY, relativeTo: folder)
    try writeText(text, of: file.rawValue, path)
}

/// Writes to an open file at its offset, in one call.
package func writeText(_ text: String, of descriptor: Int32, _ path: String) throws(SystemError) {
    let bytes = Array(text.utf8)
    try systemCall("write", path) { write(descriptor, bytes, bytes.count) }
}

/// The names in a folder, in the kernel's order, without `.` and `..`; on wish those of folders
/// alone.
package func names(inFolder path: String, foldersOnly: Bool = false) throws(SystemError) -> [String]
{
    guard let folder = opendir(path) else {
        throw SystemError(operation: "open", errno: errno, subject: path)
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
        let isFolder = entry.pointee.d_type == UInt8(DT_DIR)
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != ".", name != "..", isFolder || !foldersOnly { names.append(name) }
    }
    return names
}

/// Makes a folder and those above it where they are missing. (mkdir(2); the process's umask
/// applies.)
package func makeFolders(_ path: String, mode: UInt32) throws(SystemError) {
    if mkdir(path, mode) == 0 { return }
    let error = errno
    if error == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
        try makeFolders(String(path[..<slash]), mode: mode)
        if mkdir(path, mode) == 0 { return }
    }
    var status = stat()
    let exists = stat(path, &status) == 0
    if exists, status.st_mode & S_IFMT == S_IFDIR { return }
    throw SystemError(operation: "mkdir", errno: exists ? ENOTDIR : error, subject: path)
}
