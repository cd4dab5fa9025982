import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// What the processes of a task used, as the kernel counted it.
    @Suite struct UseTests {
        /// A command that computes for that long by its own count, and holds so much.
        private func burn(
            milliseconds: Int, mebibytes: UInt64 = 0, mode: String = "burn"
        ) throws -> [String] {
            [try builtProgram("process-test-child"), mode, "\(milliseconds)", "\(mebibytes)"]
        }

        private func use(of arguments: [String], _ harness: Harness) throws -> ProcessUse {
            let task = try harness.makeTask()
            _ = try task.start(LaunchRequest(arguments: arguments))
            try harness.waitUntilGone(task)
            let use = try #require(task.readUse())
            task.close()
            #expect(task.readUse() == use)
            return use
        }

        @Test("a task's processor time and peak memory are counted", arguments: Kind.available)
        func counts(kind: Kind) throws {
            let mebibytes: UInt64 = 64
            let arguments = try burn(milliseconds: 200, mebibytes: mebibytes)
            let use = try use(of: arguments, Harness(kind))
            #expect(use.cpuMicroseconds >= 200_000)
            #expect(try #require(use.memoryPeakBytes) >= mebibytes << 20)
        }

        @Test("what a command started and did not wait for counts too", arguments: Kind.available)
        func descendants(kind: Kind) throws {
            let arguments = try burn(milliseconds: 200)
            let script = ["sh", "-c", "\"$0\" \"$@\" & exit 0"] + arguments
            #expect(try use(of: script, Harness(kind)).cpuMicroseconds >= 200_000)
        }

        @Test(
            "a small command does not show the memory of the process that started it",
            .enabled(if: !isSanitized), arguments: Kind.available
        )
        func ownPeakIsNotInherited(kind: Kind) throws {
            let bytes = 128 << 20
            let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 4096)
            memset(block, 1, bytes)
            block.deallocate()
            let peak = try use(of: ["true"], Harness(kind)).memoryPeakBytes
            #expect(peak ?? 0 < 16 << 20)
        }

        @Test(
            "what a task has used so far is told while it runs",
            .enabled(if: Kind.refusal == nil)
        )
        func running() throws {
            let harness = try Harness(.cgroup)
            let task = try harness.makeTask()
            let arguments = try burn(milliseconds: 200, mode: "burn-and-stay")
            var process = try task.start(LaunchRequest(arguments: arguments))
            let output = Reader(process.takeStandardOutput())
            try harness.waitFor { try output.read() == "done\n" }
            #expect(try #require(task.readUse()).cpuMicroseconds >= 200_000)
            try task.kill()
            try harness.waitUntilGone(task)
            #expect(try #require(task.readUse()).cpuMicroseconds >= 200_000)
            task.close()
        }
    }
}
