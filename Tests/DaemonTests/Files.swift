import Glibc
import TestKit

/// A folder of its own for a test, removed with all that is in it.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/bgtaskd-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Child.CannotStart(program: "mkdtemp", errno: errno)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        Files.removeAll(path)
    }
}

/// The few things that tests do with files.
enum Files {
    /// The bytes of a file; none where it is not there.
    static func bytes(_ path: String) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var result: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { return result }
            result += buffer[..<count]
        }
    }

    static func text(_ path: String) -> String {
        String(decoding: bytes(path), as: UTF8.self)
    }

    static func write(_ text: String, to path: String) throws {
        try write(Array(text.utf8), to: path)
    }

    static func write(_ bytes: [UInt8], to path: String) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Child.CannotStart(program: path, errno: errno) }
        defer { close(file) }
        var count = 0
        while count < bytes.count {
            let written = Glibc.write(file, Array(bytes[count...]), bytes.count - count)
            guard written > 0 else { throw Child.CannotStart(program: path, errno: errno) }
            count += written
        }
    }

    static func copy(_ path: String, to copy: String) throws { try write(bytes(path), to: copy) }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The names in a folder.
    static func names(_ folder: String) -> [String] { TestKit.names(inFolder: folder) }

    static func removeAll(_ path: String) {
        for name in names(path) where unlink(path + "/" + name) != 0 {
            removeAll(path + "/" + name)
        }
        rmdir(path)
    }
}
