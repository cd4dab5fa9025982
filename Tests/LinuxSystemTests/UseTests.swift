import Glibc
import Testing

@testable import LinuxSystem

extension LinuxTests {
    /// What the processes of a task used, as the kernel counted it.
    @Suite struct UseTests {
        /// A command that computes for that long by its own count, and holds so much.
        private func burn(
            milliseconds: Int, mebibytes: UInt64 = 0, mode: String = "burn"
        ) throws -> [String] {
            [try builtProgram("process-test-child"), mode, "\(milliseconds)", "\(mebibytes)"]
        }

        /// 64 MiB, and more than this process has held: less may count as this process's.
        private func wellBeyondOurs() throws -> UInt64 {
            let own = try #require(InheritedPeak.ownPeakBytes())
            return 64 + (own + own / 4) >> 20
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
            let mebibytes = try wellBeyondOurs()
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
            "a group that is used again counts from zero",
            .enabled(if: Kind.refusal == nil)
        )
        func groupUsedAgain() throws {
            let harness = try Harness(.cgroup)
            let arguments = try burn(milliseconds: 200)
            let script = ["sh", "-c", "cat /proc/self/cgroup; exec \"$0\" \"$@\""] + arguments
            let heavy = try harness.run(LaunchRequest(arguments: script))
            let task = try harness.makeTask()
            var light = try task.start(LaunchRequest(arguments: ["cat", "/proc/self/cgroup"]))
            let output = Reader(light.takeStandardOutput())
            try harness.waitUntilGone(task)
            // A group whose memory is counted may be good for one task alone.
            let tree = try #require(harness.host.containment.tree)
            if try !contents(of: tree.folder + "/cgroup.subtree_control").contains("memory") {
                #expect(try heavy.output == output.read() + "done\n")
            }
            #expect(try #require(task.readUse()).cpuMicroseconds < 200_000)
            task.close()
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
            if kind == .supervisor { #expect(peak ?? 0 > 0) }
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

        @Test("the kernel's count of a single process comes with its end")
        func plainProcess() throws {
            final class Owner: WatchOwner {
                func ready(role: Int, _ events: inout [ProcessEvent]) {}
            }
            let owner = Owner()
            let harness = try Harness(.supervisor)
            let mebibytes = try wellBeyondOurs()
            let arguments = try burn(milliseconds: 200, mebibytes: mebibytes)
            let spawned = try spawn(LaunchRequest(arguments: arguments), descriptors: [])
            let child = try WatchedChild(spawned, host: harness.host, owner: owner, role: 0)
            #expect(child.use == nil)
            try harness.waitFor { child.reap() != nil }
            let use = try #require(child.use)
            #expect(use.cpuMicroseconds >= 200_000)
            #expect(try #require(use.memoryPeakBytes) >= mebibytes << 20)
        }

        @Test("under a supervisor that was killed nothing is known, and the task ends all the same")
        func killedSupervisor() throws {
            let harness = try Harness(.supervisor)
            let task = try harness.makeTask()
            _ = try task.start(LaunchRequest(arguments: ["sleep", "1000"]))
            try harness.wait { if case .started = $0.what { true } else { false } }
            #expect(task.readUse() == nil)
            for processID in try processes(running: "bgtask-supervisor") {
                kill(processID, SIGKILL)
            }
            try harness.waitUntilGone(task)
            #expect(task.readUse() == nil)
            task.close()
        }
    }
}
