import Glibc
import LinuxSystem
import Testing

/// Users that every Debian has, with nothing of their own.
enum OtherUser {
    static let games = LaunchRequest.User(user: 5, group: 60, groups: [60])
    static let backup = LaunchRequest.User(user: 34, group: 34, groups: [34])
}

/// A folder where several users have something: gone after the test, with all that is in it.
final class SharedFolder {
    let path: String
    private let harness: Harness

    init(_ harness: Harness) throws {
        self.harness = harness
        var template = Array("/tmp/linux-system-shared-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemError(operation: "mkdtemp", errno: errno)
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        chmod(path, 0o755)
    }

    deinit {
        _ = try? harness.run("rm", "-rf", path)
    }

    /// Makes a folder of that user's, with a command "tool" in it that prints the folder's name.
    func makeFolder(_ name: String, of user: LaunchRequest.User, mode: mode_t) throws -> String {
        let folder = "\(path)/\(name)"
        #expect(mkdir(folder, 0o755) == 0)
        let script = try OwnedDescriptor.open(
            "\(folder)/tool", flags: O_CREAT | O_WRONLY, mode: 0o755)
        let text = Array("#!/bin/sh\necho \(name)\n".utf8)
        #expect(write(script.rawValue, text, text.count) == text.count)
        #expect(chown(folder, user.user, user.group) == 0)
        #expect(chmod(folder, mode) == 0)
        return folder
    }

    /// Puts a program of this build where all users can run it: the build's own folder may be closed.
    func install(_ program: String) throws -> String {
        let outcome = try harness.run("install", "-m", "755", try builtProgram(program), path)
        #expect(outcome.exit == .status(0), "\(outcome.error)")
        return "\(path)/\(program)"
    }
}

/// Whether this process has capabilities, by their numbers in capabilities(7).
func hasCapabilities(_ numbers: Int...) -> Bool {
    let status = (try? contents(of: "/proc/self/status")) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
    let digits = line?.split(separator: "\t").last ?? ""
    let set = UInt64(digits, radix: 16) ?? 0
    return numbers.allSatisfy { set & (1 << UInt64($0)) != 0 }
}
