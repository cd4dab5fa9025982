import Glibc
import Testing

@testable import LinuxSystem

extension LinuxTests {
    /// Tasks of many processes.
    @Suite struct CrowdTests {
        @Test(
            "a signal gets to each of more processes than are looked at together",
            arguments: Kind.available)
        func signal(kind: Kind) throws {
            let harness = try Harness(kind)
            let task = try harness.makeTask()
            let script = "i=0; while [ $i -lt 600 ]; do sleep 1000 & i=$((i+1)); done; echo; wait"
            var process = try task.start(LaunchRequest(arguments: ["sh", "-c", script]))
            let reader = Reader(process.takeStandardOutput())
            try harness.waitFor { try reader.read().contains("\n") }
            let before = try descriptorCount()
            #expect(try task.signal(SIGTERM) == nil)
            // A look for those that left the group may be under way.
            try harness.waitFor { try descriptorCount() <= before }
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test(
            "a signal to many is sent in turns, and what is ordered meanwhile comes after it",
            .enabled(if: Kind.refusal == nil))
        func turns() throws {
            let harness = try Harness(.cgroup)
            let task = try harness.makeTask()
            let script = "i=0; while [ $i -lt 600 ]; do sleep 1000 & i=$((i+1)); done; echo; wait"
            var process = try task.start(LaunchRequest(arguments: ["sh", "-c", script]))
            let reader = Reader(process.takeStandardOutput())
            try harness.waitFor { try reader.read().contains("\n") }
            func stoppedCount() throws -> Int {
                try task.processIDs().filter { processID in
                    let status = (try? contents(of: "/proc/\(processID)/stat")) ?? ""
                    return status.split(separator: ")").last?.hasPrefix(" T") == true
                }.count
            }
            #expect(try task.signal(SIGSTOP) == nil)
            // No event has been taken since: this is what one turn has done.
            #expect(try (1...300).contains(stoppedCount()))
            try harness.waitFor { try stoppedCount() == 601 }
            #expect(try task.signal(SIGSTOP) == nil)
            #expect(try task.signal(SIGCONT) == nil)
            try harness.waitFor { try stoppedCount() == 0 }
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test(
            "ten thousand orders beside one that is under way wait as one for each signal",
            .enabled(if: Kind.refusal == nil))
        func flood() throws {
            let harness = try Harness(.cgroup)
            let task = try harness.makeTask()
            let script = "trap '' USR1; for i in $(seq 600); do sleep 1000 & done; echo; wait"
            var process = try task.start(LaunchRequest(arguments: ["sh", "-c", script]))
            let reader = Reader(process.takeStandardOutput())
            try harness.waitFor { try reader.read().contains("\n") }
            #expect(try task.signal(SIGUSR1) == nil)
            for _ in 0..<5000 {
                #expect(try task.signal(SIGUSR1) == nil)
                #expect(try task.signal(SIGSTOP) == nil)
                #expect(try task.signal(SIGCONT) == nil)
            }
            #expect(harness.host.sweeps.count == 3)
            try task.kill()
            try harness.waitUntilGone(task)
            #expect(harness.host.sweeps.count == 0)
            task.close()
        }

        @Test("a signal to few is sent at once", .enabled(if: Kind.refusal == nil))
        func few() throws {
            let harness = try Harness(.cgroup)
            let task = try harness.makeTask()
            let script = "for i in $(seq 50); do sleep 1000 & done; echo; wait"
            var process = try task.start(LaunchRequest(arguments: ["sh", "-c", script]))
            let reader = Reader(process.takeStandardOutput())
            try harness.waitFor { try reader.read().contains("\n") }
            #expect(try task.signal(SIGTERM) == 51)
            try harness.waitUntilGone(task)
            task.close()
        }

        /// Starts a task of a user that leaves processes to this one.
        private func startLeaving(
            _ harness: Harness, _ folder: SharedFolder, _ user: LaunchRequest.User,
            as mode: String...
        ) throws -> (any TaskProcesses, Reader) {
            let task = try harness.makeTask()
            var process = try task.start(
                LaunchRequest(
                    arguments: [try folder.install("process-test-child")] + mode,
                    searchPath: "/usr/bin:/bin", user: user))
            let reader = Reader(process.takeStandardOutput())
            try harness.waitFor { try reader.read().contains("\n") }
            return (task, reader)
        }

        @Test(
            "who has left nothing does not wait for a look at all processes, whatever others left",
            .enabled(if: Kind.refusal == nil && geteuid() == 0))
        func end() throws {
            let harness = try Harness(.cgroup)
            let folder = try SharedFolder(harness)
            let (task, reader) = try startLeaving(
                harness, folder, OtherUser.games, as: "daemonize-and-stay")
            let looks = try #require(harness.host.strays?.number)
            for user in [OtherUser.backup, OtherUser.games] {
                let outcome = try harness.run(
                    LaunchRequest(
                        arguments: ["true"], searchPath: "/usr/bin:/bin", user: user))
                #expect(outcome.exit == .status(0))
            }
            #expect(harness.host.strays?.number == looks)
            #expect(reader.text.contains("\n"))
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }

        /// Runs `true` for a user, and takes no other events than those of the turn in which it ends.
        private func runTrue(
            _ harness: Harness, _ user: LaunchRequest.User
        ) throws -> any TaskProcesses {
            let task = try harness.makeTask()
            _ = try task.start(
                LaunchRequest(arguments: ["true"], searchPath: "/usr/bin:/bin", user: user))
            let exit = ProcessEvent(
                task: task.identifier, what: .exited(index: 0, .status(0)))
            try harness.waitFor(polls: false) {
                try harness.host.poll(into: &harness.events)
                return harness.events.contains(exit)
            }
            return task
        }

        @Test(
            "who has left nothing ends with its command, whatever others left",
            .enabled(if: Kind.refusal == nil && geteuid() == 0))
        func atOnce() throws {
            let harness = try Harness(.cgroup)
            let folder = try SharedFolder(harness)
            let (leaver, reader) = try startLeaving(
                harness, folder, OtherUser.games, as: "daemonize-and-stay")
            let task = try runTrue(harness, OtherUser.backup)
            #expect(harness.events.contains(ProcessEvent(task: task.identifier, what: .gone)))
            task.close()
            #expect(reader.text.contains("\n"))
            try leaver.kill()
            try harness.waitUntilGone(leaver)
            leaver.close()
        }

        @Test(
            "others' orphans are known after a pass, and then nobody waits for them",
            .enabled(if: Kind.refusal == nil && geteuid() == 0))
        func known() throws {
            let harness = try Harness(.cgroup)
            let folder = try SharedFolder(harness)
            let (leaver, reader) = try startLeaving(
                harness, folder, OtherUser.games, as: "leave", "200")
            try harness.waitFor {
                let task = try runTrue(harness, OtherUser.backup)
                let gone = ProcessEvent(task: task.identifier, what: .gone)
                let isAtOnce = harness.events.contains(gone)
                try harness.waitUntilGone(task)
                task.close()
                return isAtOnce
            }
            #expect(reader.text.contains("\n"))
            try leaver.kill()
            try harness.waitUntilGone(leaver)
            leaver.close()
        }

        @Test(
            "who has left nothing beside thousands of others' is not looked for, and leaves its group",
            .enabled(if: Kind.refusal == nil && geteuid() == 0))
        func beside() throws {
            let harness = try Harness(.cgroup)
            let folder = try SharedFolder(harness)
            let (leaver, reader) = try startLeaving(
                harness, folder, OtherUser.games, as: "leave", "3000")
            let looks = try #require(harness.host.strays?.number)
            var groups: Set<String> = []
            for _ in 0..<3 {
                let task = try runTrue(harness, OtherUser.backup)
                groups.formUnion(task.homes.map { "\($0)" })
                let gone = ProcessEvent(task: task.identifier, what: .gone)
                #expect(!harness.events.contains(gone))
                // As a task that does not end with its main process is ordered to.
                try task.kill()
                try harness.waitUntilGone(task)
                task.close()
            }
            #expect(harness.host.strays?.number == looks)
            #expect(groups.count == 1, "\(groups)")
            #expect(reader.text.contains("\n"))
            try leaver.kill()
            try harness.waitUntilGone(leaver)
            leaver.close()
        }

        @Test(
            "thousands of children that were left to this process are looked at in slices",
            .enabled(if: Kind.refusal == nil))
        func slices() throws {
            let harness = try Harness(.cgroup)
            // SIGCHLD is not blocked in the threads of a test, so that it may not come.
            let asker = Asker()
            let task = try harness.makeTask()
            let count = 3000
            var process = try task.start(
                LaunchRequest(
                    arguments: [try builtProgram("process-test-child"), "leave", "\(count)"],
                    searchPath: "/usr/bin:/bin"))
            let reader = Reader(process.takeStandardOutput())
            try harness.waitFor { try reader.read().contains("\n") }
            try task.kill()
            func zombieCount() throws -> Int {
                try adoptedOrphans(known: []).filter { !isAlive($0) }.count
            }
            try harness.waitFor(polls: false) { try zombieCount() >= count }
            harness.host.reaper?.count(for: asker)
            var events: [ProcessEvent] = []
            try harness.host.pollChildren(into: &events)
            #expect(try zombieCount() >= count - ChildReaper.sliceMax)
            try harness.waitUntilGone(task)
            task.close()
            try harness.waitFor {
                harness.host.reaper?.count(for: asker)
                return try adoptedOrphans(known: []).isEmpty
            }
        }

        /// Wants a pass, and nothing of it.
        private final class Asker: ChildReaper.Client {
            let sessions: Set<AuditSession> = []

            func counted(_ count: OrphanCount, _ events: inout [ProcessEvent]) {}
        }

        private func descriptorCount() throws -> Int {
            guard let folder = opendir("/proc/self/fd") else {
                throw SystemError(operation: "open", errno: errno)
            }
            defer { closedir(folder) }
            var count = 0
            while readdir(folder) != nil { count += 1 }
            return count
        }
    }
}
