internal import ArgumentParser
internal import Glibc

/// The variables of a command, on the command line.
package enum EnvironmentOption {
    /// More is no file of variables: the daemon takes no call that is as large.
    private static let fileBytesMax = 4 << 20

    /// What a command gets: all that bgtaskctl has itself where that is asked for, then what the files say, then the
    /// entries; of several with one name the last counts.
    ///
    /// - Parameters:
    ///   - entries: `NAME=VALUE`; a name alone hands over the variable that bgtaskctl has itself.
    ///   - files: of lines `NAME=VALUE`, empty lines, and comments behind a `#` at the beginning.
    package static func variables(
        _ entries: [String], files: [String] = [], withAll: Bool = false
    ) throws -> [String: String] {
        var variables = withAll ? try own() : [:]
        for path in files { try read(path, into: &variables) }
        for entry in entries {
            let (name, value) = parts(of: entry)
            guard !name.isEmpty else {
                throw ValidationError("--env expects NAME=VALUE, and \"\(entry)\" has no name")
            }
            let own = try value == nil ? getenv(name).map { try text($0, "--env \(name)") } : nil
            guard let value = value ?? own else {
                throw ValidationError("--env \(name): you have no such variable; give a value")
            }
            variables[name] = value
        }
        return variables
    }

    private static func parts(of entry: some StringProtocol) -> (name: String, value: String?) {
        let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count == 2 ? String(parts[1]) : nil)
    }

    private static func text(_ value: UnsafePointer<CChar>, _ subject: String) throws -> String {
        guard let text = String(validatingCString: value) else {
            throw ValidationError("\(subject): it is not UTF-8, and bgtaskd takes nothing else")
        }
        return text
    }

    private static func own() throws -> [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let (name, value) = parts(
                of: try text(entry, "--env-all: " + String(cString: entry).prefix { $0 != "=" }))
            if !name.isEmpty, let value { variables[name] = value }
            next += 1
        }
        return variables
    }

    private static func read(_ path: String, into variables: inout [String: String]) throws {
        guard let text = String(validating: try bytes(of: path), as: UTF8.self) else {
            throw ValidationError(
                "--env-file \(path): it is not UTF-8, and bgtaskd takes nothing else")
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty && !line.hasPrefix("#") {
            let (name, value) = parts(of: line)
            guard !name.isEmpty, let value else {
                throw ValidationError(
                    "\(path):\(index + 1): a line is NAME=VALUE, empty, or begins with #")
            }
            guard !name.hasPrefix("export ") else {
                throw ValidationError(
                    "\(path):\(index + 1): a line is NAME=VALUE, without export and quotes")
            }
            variables[name] = value
        }
    }

    private static func bytes(of path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw unreadable(path) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(file, &chunk, chunk.count)
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw unreadable(path)
            }
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= fileBytesMax else {
                throw ValidationError("--env-file \(path): larger than \(fileBytesMax) bytes")
            }
        }
    }

    private static func unreadable(_ path: String) -> ValidationError {
        ValidationError("--env-file \(path): \(ErrorText.of(errno))")
    }
}
