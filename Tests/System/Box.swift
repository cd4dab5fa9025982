import Foundation
import TestKit
import Testing

/// A real systemd to test in: a container over this machine's own root, made by `systemd-box`.
///
/// Nothing inside changes a file of the machine. One box serves all system tests; it is gone with
/// the test process, whatever becomes of that.
enum Box {
    /// What a command said, and how it ended.
    struct Result: Equatable {
        var status: Int32
        var output: String
        var errors: String

        /// The output without the newline at its end.
        var line: String { output.trimmingCharacters(in: .newlines) }
    }

    struct Failed: Error, CustomStringConvertible {
        var description: String
    }

    /// The project's own folder; bound into the box.
    static let project = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Why no box can start here; `nil` where one can, and where CI demands it.
    static let reasonAgainst: String? = {
        let environment = ProcessInfo.processInfo.environment
        if environment["CI"] == "true" { return nil }
        if geteuid() != 0 { return "system tests boot a container, which needs root" }
        let folders = (environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        let needed = [
            "systemd-nspawn", "nsenter", "unshare", "setpriv", "flock", "pgrep", "socat",
        ]
        let missing = needed.first { name in
            !folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
        }
        if let missing { return "system tests need \(missing); see `make test-deps`" }
        return hasNamespaces() ? nil : "system tests need namespaces, which root may not make here"
    }()

    /// Root in an ordinary container may not, for example.
    private static func hasNamespaces() -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["unshare", "--mount", "--pid", "--fork", "true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// No command takes longer on a slow and busy machine, unless something is broken.
    private static let secondsMax = 600

    /// Boots it; a box that does not come up is an error with the console's last lines.
    static func start() throws {
        let started = try script(
            [
                "start", "--owner", "\(getpid())", "--timeout", "180", "--lock-wait", "300",
                "--bind-ro", project.path, "--bind-ro", Programs.buildFolder,
                "--bind-ro", Programs.folder,
            ]
        )
        guard started.status == 0 else {
            throw Failed(description: started.errors)
        }
    }

    /// Powers it off.
    static func stop() throws {
        _ = try script(["stop"])
    }

    /// Runs a command inside, as a unit of its own, for at most `seconds` (then its status is 124).
    ///
    /// The options are those of `systemd-box exec`, such as `-u USER`.
    static func exec(
        _ command: String...,
        options: [String] = [],
        seconds: Int = secondsMax
    ) throws -> Result {
        try script(["exec", "-T", "\(seconds)"] + options + ["--"] + command)
    }

    /// Runs a command inside without the help of its systemd, which may be what is broken.
    static func execRaw(_ command: String...) throws -> Result {
        try execRaw(list: command)
    }

    /// The same, with the words of the command as a list.
    static func execRaw(list command: [String]) throws -> Result {
        try script(["exec", "--raw", "--", "timeout", "\(secondsMax)"] + command)
    }

    /// Runs a command inside again and again until its output is `expected`.
    static func wait(for expected: String, from command: String...) throws {
        let loop = "until [ \"$(\"$@\")\" = '\(expected)' ]; do sleep 0.05; done"
        let result = try execRaw(list: ["sh", "-c", loop, "sh"] + command)
        guard result.status == 0 else {
            throw Failed(description: "\(command) never said \(expected)")
        }
    }

    /// Empties the journal: ids of tasks begin anew with the state of a daemon, and an earlier test may have
    /// written of the same.
    static func forgetJournal() throws {
        let emptied = try execRaw(
            "sh", "-c", "journalctl --quiet --sync --rotate && journalctl --quiet --vacuum-size=1")
        guard emptied.status == 0 else { throw Failed(description: emptied.errors) }
    }

    /// Writes a unit and tells systemd to read it.
    static func install(unit name: String, _ text: String) throws {
        try write(text, to: "/etc/systemd/system/\(name)")
        try reloadUnits()
    }

    /// Has systemd read its units again.
    static func reloadUnits() throws {
        let reloaded = try execRaw("systemctl", "daemon-reload")
        guard reloaded.status == 0 else {
            throw Failed(description: reloaded.errors)
        }
    }

    /// Writes a file inside, with the folders above it; never one of this machine.
    static func write(_ text: String, to path: String) throws {
        let root = try script(["root"])
        guard root.status == 0, root.line.hasPrefix("/proc/"), root.line.hasSuffix("/root") else {
            throw Failed(description: "the box is gone: \(root)")
        }
        let file = URL(fileURLWithPath: root.line + path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: file, atomically: false, encoding: .utf8)
    }

    private static func script(_ arguments: [String]) throws -> Result {
        let name = ProcessInfo.processInfo.environment["SYSTEMD_BOX_NAME"] ?? "bgtaskd"
        return try run("systemd-box", arguments, ["SYSTEMD_BOX_NAME": name])
    }

    /// Runs a script of this folder, with `variables` beside those of this process.
    static func run(
        _ script: String, _ arguments: [String], _ variables: [String: String]
    ) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().appendingPathComponent(script)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (Pipe(), try temporaryFile())
        process.standardOutput = output
        process.standardError = errors
        try withoutBlockedSignals { try process.run() }
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        try errors.seek(toOffset: 0)
        return Result(
            status: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: errors.readDataToEndOfFile(), as: UTF8.self)
        )
    }

    /// Threads that run tests block all signals; a child would inherit that and never hear SIGTERM.
    private static func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }

    /// A file without a name: errors are read after the end, and cannot fill a pipe meanwhile.
    private static func temporaryFile() throws -> FileHandle {
        let path = NSTemporaryDirectory() + "bgtaskd-\(getpid())-\(UUID().uuidString)"
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forUpdatingAtPath: path)
        else {
            throw Failed(description: "cannot write \(path)")
        }
        try FileManager.default.removeItem(atPath: path)
        return file
    }
}

/// What units of tests do.
enum BoxScript {
    /// Adds a byte to a file a hundred times a second, in one process; for a word of a shell in single quotes, and
    /// without a dollar, which systemd would take for a variable.
    static func count(in file: String) -> String {
        "exec perl -e \"open F, q(>>), q(\(file)); while (1) { syswrite F, q(.); "
            + "select undef, undef, undef, 0.01 }\""
    }
}

/// Starts the box before a suite and stops it after.
struct BoxTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable () async throws -> Void
    ) async throws {
        try Box.start()
        do {
            try await function()
        } catch {
            try Box.stop()
            throw error
        }
        try Box.stop()
    }
}

/// All tests that need a real systemd: suites nested in here share one box, one test at a time.
@Suite(
    "Under a real systemd",
    .serialized,
    .enabled(if: Box.reasonAgainst == nil, Comment(rawValue: Box.reasonAgainst ?? "")),
    .timeLimit(.minutes(15)),
    BoxTrait()
)
enum SystemTests {}
