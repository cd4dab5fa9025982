import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// What a command of another user may reach, and who may reach it.
    @Suite(.enabled(if: geteuid() == 0)) struct OtherUserRightsTests {
        @Test(
            "another user's private folder is no working directory and holds no command",
            arguments: Kind.available
        )
        func privateFolder(kind: Kind) throws {
            let harness = try Harness(kind)
            let shared = try SharedFolder(harness)
            let folder = try shared.makeFolder("private", of: OtherUser.games, mode: 0o700)
            func request(_ command: String, _ user: LaunchRequest.User) -> LaunchRequest {
                LaunchRequest(arguments: [command], directory: "/", user: user)
            }
            #expect(
                try harness.run(request("\(folder)/tool", OtherUser.games)).output == "private\n")

            let byPath = request("\(folder)/tool", OtherUser.backup)
            let denied = LaunchError(stage: .exec, errno: EACCES, subject: "\(folder)/tool")
            #expect(try harness.failure(of: byPath) == denied)
            var bySearch = request("tool", OtherUser.backup)
            bySearch.searchPath = folder
            #expect(
                try harness.failure(of: bySearch)
                    == LaunchError(stage: .exec, errno: EACCES, subject: "tool"))
            var inside = request("true", OtherUser.backup)
            inside.directory = folder
            let closed = LaunchError(stage: .directory, errno: EACCES, subject: folder)
            #expect(try harness.failure(of: inside) == closed)
            // With the groups of the daemon it could be entered.
            chown(folder, 5, 0)
            chmod(folder, 0o770)
            #expect(try harness.failure(of: inside) == closed)
        }

        @Test(
            "a directory that cannot be entered is replaced by its fallback",
            arguments: Kind.available
        )
        func fallback(kind: Kind) throws {
            let harness = try Harness(kind)
            let shared = try SharedFolder(harness)
            let folder = try shared.makeFolder("private", of: OtherUser.games, mode: 0o700)
            var request = LaunchRequest(
                arguments: ["pwd"], directory: folder, directoryFallback: "/usr",
                user: OtherUser.games)
            #expect(try harness.run(request).output == "\(folder)\n")
            request.user = OtherUser.backup
            #expect(try harness.run(request).output == "/usr\n")
            request.directory = "/nonexistent"
            #expect(try harness.run(request).output == "/usr\n")
            request.directoryFallback = folder
            let error = LaunchError(stage: .directory, errno: ENOENT, subject: "/nonexistent")
            #expect(try harness.failure(of: request) == error)
        }

        @Test(
            "a symbolic link that changes all the time leads nobody where they may not go",
            arguments: Kind.available
        )
        func symbolicLinkRace(kind: Kind) throws {
            let harness = try Harness(kind)
            let shared = try SharedFolder(harness)
            let own = try shared.makeFolder("own", of: OtherUser.games, mode: 0o755)
            let foreign = try shared.makeFolder("foreign", of: OtherUser.backup, mode: 0o700)
            let link = "\(own)/link"
            let flipper = try harness.makeTask()
            let child = try shared.install("process-test-child")
            _ = try flipper.start(
                LaunchRequest(
                    arguments: [child, "flip", link, own, foreign], user: OtherUser.games))
            try harness.waitFor { access(link, F_OK) == 0 }

            let requests = [
                LaunchRequest(arguments: ["/bin/pwd"], directory: link, user: OtherUser.games),
                LaunchRequest(arguments: ["\(link)/tool"], user: OtherUser.games),
                LaunchRequest(arguments: ["tool"], searchPath: link, user: OtherUser.games),
            ]
            for request in requests {
                // Each way often enough that the link was seen to lead there.
                var (ran, denied) = (0, 0)
                let deadline = MonotonicClock.now() + Harness.millisecondsMax * 1_000_000
                while ran < 20 || denied < 20, MonotonicClock.now() < deadline {
                    let outcome = try harness.run(request)
                    if case .startFailed(_, let error) = outcome.whats.first {
                        #expect(error.errno == EACCES)
                        #expect(error.stage == (request.directory == nil ? .exec : .directory))
                        denied += 1
                    } else {
                        // A script's interpreter may find that the link has changed.
                        let isOwn = outcome.output == "own\n" || outcome.output == "\(own)\n"
                        #expect(isOwn || outcome.exit != .status(0), "\(outcome.output)")
                        ran += 1
                    }
                }
                #expect(ran >= 20 && denied >= 20)
            }
            try flipper.kill()
            try harness.waitUntilGone(flipper)
            flipper.close()
        }

        @Test(
            "signals and the kill reach another user's processes, daemonized ones included",
            arguments: Kind.available
        )
        func kill(kind: Kind) throws {
            let harness = try Harness(kind)
            let shared = try SharedFolder(harness)
            let child = try shared.install("process-test-child")
            for isKilled in [false, true] {
                let mode = isKilled ? "daemonize-and-stay" : "daemonize"
                let task = try harness.makeTask()
                var process = try task.start(
                    LaunchRequest(arguments: [child, mode], user: OtherUser.games))
                let output = Reader(process.takeStandardOutput())
                try harness.waitFor { try output.read().contains("\n") }
                let processID = try #require(Int32(output.text.prefix { $0 != "\n" }))
                #expect(try realUser(of: processID) == 5)
                if isKilled { try task.kill() } else { try task.signal(SIGTERM) }
                try harness.waitUntilGone(task)
                #expect(!isAlive(processID))
                task.close()
            }
        }

    }
}
