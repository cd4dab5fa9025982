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
            try task.signal(SIGTERM)
            try harness.waitFor { try descriptorCount() <= before }
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
