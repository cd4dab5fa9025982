import Foundation
import Testing

/// What a run of tests that is killed leaves of its box; with boxes of their own, beside the one of the other tests.
@Suite(
    "The end of a box", .serialized, .timeLimit(.minutes(15)),
    .enabled(if: Box.reasonAgainst == nil, Comment(rawValue: Box.reasonAgainst ?? "")))
struct BoxLifeTests {
    /// A place for a box in a cgroup of its own, with what `systemd-box` is told of it.
    private final class Place {
        let folder = NSTemporaryDirectory() + "bgtaskd-box-\(getpid())-\(UUID().uuidString)"
        private let cgroup = "/bgtaskd-box-\(getpid())"
        private let groups: [String]

        init() throws {
            let mounts = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup"]
            let known = mounts.filter {
                FileManager.default.fileExists(atPath: $0 + "/cgroup.procs")
            }
            groups = known.map { [cgroup] in $0 + cgroup }
            for path in groups + [folder] {
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true)
            }
        }

        deinit {
            try? FileManager.default.removeItem(atPath: folder)
        }

        var lock: String { folder + "/lock" + cgroup.replacing("/", with: "_") }

        func run(_ arguments: String...) throws -> Box.Result {
            let variables = [
                "SYSTEMD_BOX_DIR": folder, "SYSTEMD_BOX_NAME": "life", "SYSTEMD_BOX_CGROUP": cgroup,
            ]
            return try Box.run("systemd-box", arguments, variables)
        }

        /// The process that owns the box.
        func keeper() throws -> pid_t {
            let text = try String(contentsOfFile: folder + "/life/keeper", encoding: .utf8)
            return try #require(pid_t(text.prefix { $0 != " " }))
        }

        /// Stops the box, after which nothing of it is in its cgroup.
        func stop() throws {
            #expect(try run("stop").status == 0)
            for path in groups { #expect(rmdir(path) == 0, "\(path): \(errno)") }
        }
    }

    /// A shell script that runs beside the test, and has printed a line.
    private final class Script {
        let line: String
        private let process = Process()

        init(_ text: String) throws {
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", text]
            process.standardOutput = output
            try process.run()
            let bytes = output.fileHandleForReading.availableData
            line = String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
        }

        deinit {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    @Test("who waits for another box is told who holds its lock")
    func holder() throws {
        let place = try Place()
        let holder = try Script(
            "exec 9>\(place.lock); flock 9; echo $$; exec tail -f /dev/null")
        let started = try place.run("start", "--lock-wait", "0")
        #expect(started.status == 125)
        #expect(started.errors.contains("    \(holder.line) tail -f /dev/null"), "\(started)")
        #expect(started.errors.contains("in vain"), "\(started)")
        withExtendedLifetime(holder) {}
        try place.stop()
    }

    @Test("a box ends with its owner, also where nobody reaps that, and makes room for the next")
    func owner() throws {
        let place = try Place()
        let parent = try Script("tail -f /dev/null & echo $!; exec tail -f /dev/null")
        let owner = try #require(pid_t(parent.line))
        #expect(try place.run("start", "--timeout", "180", "--owner", "\(owner)").status == 0)
        #expect(kill(owner, SIGKILL) == 0)
        let next = try place.run("start", "--timeout", "180", "--lock-wait", "60")
        #expect(next.status == 0, "\(next)")
        // It is there still, as a zombie.
        #expect(kill(owner, 0) == 0)
        withExtendedLifetime(parent) {}
        try place.stop()
    }

    @Test("a box whose keeper is killed makes room for the next while its owner runs")
    func keeper() throws {
        let place = try Place()
        let owner = try Script("echo $$; exec tail -f /dev/null")
        #expect(try place.run("start", "--timeout", "180", "--owner", owner.line).status == 0)
        #expect(kill(try place.keeper(), SIGKILL) == 0)
        let next = try place.run("start", "--timeout", "180", "--lock-wait", "60")
        #expect(next.status == 0, "\(next)")
        withExtendedLifetime(owner) {}
        try place.stop()
    }
}
