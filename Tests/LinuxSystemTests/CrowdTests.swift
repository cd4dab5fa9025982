import Glibc
import LinuxSystem
import Testing

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
