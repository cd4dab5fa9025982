import Glibc
import LinuxSystem
import TestKit
import Testing

extension LinuxTests {
    /// The freeze of a task: by its cgroup, and by signals where there is none.
    @Suite struct FreezeTests {
        private static let spinning = LaunchRequest(arguments: ["sh", "-c", "while :; do :; done"])

        /// Starts the child program, and waits until it has said something.
        private func startChild(
            _ arguments: [String], _ harness: Harness
        ) throws -> (TestTask, Reader) {
            let task = try harness.makeTask()
            var process = try task.start(
                LaunchRequest(
                    arguments: [try builtProgram("process-test-child")] + arguments))
            let output = Reader(process.takeStandardOutput())
            try harness.waitFor { try output.read().contains("\n") }
            return (task, output)
        }

        private func freeze(_ task: TestTask, _ harness: Harness) throws {
            harness.events = []
            try task.setFrozen(true)
            try harness.wait { $0.what == .frozen(true) }
            #expect(task.isFrozen)
        }

        private func thaw(_ task: TestTask, _ harness: Harness) throws {
            harness.events = []
            try task.setFrozen(false)
            try harness.wait { $0.what == .frozen(false) }
            #expect(!task.isFrozen)
        }

        private func kill(_ task: TestTask, _ harness: Harness) throws {
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test(
            "what is frozen computes nothing, and goes on after the thaw", arguments: Kind.available
        )
        func counts(kind: Kind) throws {
            let harness = try Harness(kind)
            let task = try harness.makeTask()
            _ = try task.start(Self.spinning)
            try harness.waitFor { harness.startedProcessID != nil }
            let process = try #require(harness.startedProcessID)
            #expect(try task.processIDs() == [process])
            try harness.waitFor { try processorTicks(of: process) > 0 }
            for _ in 0..<2 {
                try freeze(task, harness)
                let ticks = try processorTicks(of: process)
                poll(nil, 0, 100)
                #expect(try processorTicks(of: process) == ticks)
                try thaw(task, harness)
                try harness.waitFor { try processorTicks(of: process) > ticks }
            }
            #expect(!harness.events.contains { if case .exited = $0.what { true } else { false } })
            try kill(task, harness)
            #expect(!task.isFrozen)
            #expect(try task.processIDs().isEmpty)
        }

        @Test(
            "a tree that starts processes all the time freezes whole",
            arguments: Kind.available,
            [["bomb", "100"], ["spawn", "8", "0"], ["spawn", "8", "20"]])
        func newlyForking(kind: Kind, mode: [String]) throws {
            let harness = try Harness(kind)
            let (task, output) = try startChild(mode, harness)
            for _ in 0..<3 {
                try freeze(task, harness)
                let processes = try Set(task.processIDs())
                #expect(!processes.isEmpty)
                let ticks = try processes.map(processorTicks)
                _ = try output.read()
                poll(nil, 0, 50)
                #expect(task.isFrozen)
                #expect(try Set(task.processIDs()) == processes)
                #expect(try processes.map(processorTicks) == ticks)
                #expect(try output.read() == output.text)
                try thaw(task, harness)
                try harness.waitFor { try Set(task.processIDs()) != processes }
            }
            try kill(task, harness)
        }

        @Test("a frozen task is thawed for a signal, and hears it", arguments: Kind.available)
        func thawBeforeSignal(kind: Kind) throws {
            let harness = try Harness(kind)
            let task = try harness.makeTask()
            // One that handles the signal: what the signal kills anyway, the kernel kills frozen too.
            // Its child is there once it has executed a program of its own; before that it has the shell's trap.
            let script = "trap 'exit 3' TERM; sh -c 'echo; exec sleep 1000' & wait"
            var process = try task.start(LaunchRequest(arguments: ["sh", "-c", script]))
            let output = Reader(process.takeStandardOutput())
            try harness.waitFor { try output.read().contains("\n") }
            try freeze(task, harness)
            try task.signal(SIGTERM)
            try harness.waitUntilGone(task)
            #expect(harness.events.contains { $0.what == .exited(index: 0, .status(3)) })
            task.close()
        }

        @Test(
            "the frozen can be killed, by an order and by the end of the use",
            arguments: Kind.available)
        func killFrozen(kind: Kind) throws {
            let harness = try Harness(kind)
            for ends in [true, false] {
                let task = try harness.makeTask()
                _ = try task.start(Self.spinning)
                harness.events = []
                try harness.waitFor { harness.startedProcessID != nil }
                let process = try #require(harness.startedProcessID)
                try freeze(task, harness)
                if ends { task.close() } else { try kill(task, harness) }
                try harness.waitFor { !isAlive(process) }
            }
        }

        @Test(
            "SIGKILL as a signal ends the frozen, and the next task is not frozen",
            arguments: Kind.available)
        func signalKill(kind: Kind) throws {
            let harness = try Harness(kind)
            let task = try harness.makeTask()
            _ = try task.start(Self.spinning)
            try harness.waitFor { harness.startedProcessID != nil }
            try freeze(task, harness)
            try task.signal(SIGKILL)
            try harness.waitUntilGone(task)
            task.close()
            #expect(!task.isFrozen)
            for _ in 0..<3 {
                harness.events = []
                #expect(try harness.run("true").exit == .status(0))
            }
        }

        @Test(
            "a look at whether a task is frozen keeps nothing from being told",
            arguments: Kind.available)
        func lookBeforeEvent(kind: Kind) throws {
            let harness = try Harness(kind)
            let task = try harness.makeTask()
            #expect(!task.isFrozen)
            _ = try task.start(LaunchRequest(arguments: ["sleep", "1000"]))
            try harness.waitFor { harness.startedProcessID != nil }
            for frozen in [true, false] {
                try task.setFrozen(frozen)
                let deadline = MonotonicClock.now() + Harness.millisecondsMax * 1_000_000
                while task.isFrozen != frozen, MonotonicClock.now() < deadline { poll(nil, 0, 1) }
                // The kernel tells it up to 10 ms later (CGROUP_FILE_NOTIFY_MIN_INTV).
                for _ in 0..<50 {
                    poll(nil, 0, 1)
                    #expect(task.isFrozen == frozen)
                }
                try harness.wait { $0.what == .frozen(frozen) }
            }
            try kill(task, harness)
        }

        @Test(
            "a freeze is told that follows a thaw before anybody looked", arguments: Kind.available)
        func freezeAgain(kind: Kind) throws {
            let harness = try Harness(kind)
            let task = try harness.startSleeping()
            for _ in 0..<100 {
                harness.events = []
                try task.setFrozen(true)
                try harness.wait { $0.what == .frozen(true) }
                // Who wakes in the kernel only to be frozen again is not for a moment, and runs nothing meanwhile.
                try harness.waitFor { kind == .supervisor || task.isFrozen }
                #expect(kind == .cgroup || task.isFrozen)
                try task.setFrozen(false)
            }
            try kill(task, harness)
        }

        @Test(
            "a thaw that overtakes its freeze is told once all go on", arguments: Kind.available)
        func thawAtOnce(kind: Kind) throws {
            let harness = try Harness(kind)
            let task = try harness.startSleeping()
            for round in 0..<100 {
                harness.events = []
                try task.setFrozen(true)
                // Nothing of it, a part, and all of it is done by then.
                poll(nil, 0, Int32(round % 5))
                try task.setFrozen(false)
                try harness.wait { $0.what == .frozen(false) }
                #expect(!task.isFrozen)
            }
            try kill(task, harness)
        }

        @Test("each way of freezing has its name")
        func names() throws {
            #expect("\(FreezeMethod.signals) \(FreezeMethod.unit)" == "signals unit")
            for kind in Kind.available {
                let harness = try Harness(kind)
                let task = try harness.startSleeping()
                #expect(task.freezer == (kind == .cgroup ? .cgroup : .signals))
                task.close()
            }
        }
    }

    /// What a freeze by signals cannot do, and what it says then.
    @Suite struct FailedFreezeTests {
        @Test("a freeze that cannot be completed is undone, for all processes, and told")
        func undone() throws {
            let harness = try Harness(.supervisor)
            let task = try harness.makeTask()
            let script = "while :; do :; done & echo $!; exec \"$0\" wait-for-vfork"
            var process = try task.start(
                LaunchRequest(
                    arguments: ["sh", "-c", script, try builtProgram("process-test-child")]))
            let output = Reader(process.takeStandardOutput())
            try harness.waitFor { try output.read().split(separator: "\n").count == 2 }
            let spinning = try #require(Int32(output.text.prefix { $0 != "\n" }))
            try harness.waitFor { try task.processIDs().count == 3 }

            try task.setFrozen(true)
            try harness.wait { if case .freezeFailed = $0.what { true } else { false } }
            guard case .freezeFailed(let error) = harness.events.last?.what else {
                throw TimedOut(events: harness.events)
            }
            #expect(error.errno == ETIMEDOUT)
            #expect(!task.isFrozen)
            let ticks = try processorTicks(of: spinning)
            try harness.waitFor { try processorTicks(of: spinning) > ticks }
            #expect(!harness.events.contains { $0.what == .frozen(true) })
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test("a freeze and a thaw that a supervisor does not take are told as refused")
        func refused() throws {
            let harness = try Harness(.supervisor)
            let task = try harness.startSleeping()
            let process = try #require(harness.startedProcessID)
            let parent = try ProcessStat.fields(contents(of: "/proc/\(process)/stat"))[1]
            let supervisor = try #require(pid_t(parent))
            #expect(Glibc.kill(supervisor, SIGSTOP) == 0)
            for isFrozen in [false, true] {
                // What waits for it comes to a bound.
                try harness.waitFor {
                    try task.setFrozen(isFrozen)
                    return harness.events.contains {
                        switch $0.what {
                        case .thawFailed(let error): !isFrozen && error.errno == EAGAIN
                        case .freezeFailed(let error): isFrozen && error.errno == EAGAIN
                        default: false
                        }
                    }
                }
            }
            #expect(Glibc.kill(supervisor, SIGCONT) == 0)
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test("a program without its first thread is stopped, goes on, and is killed")
        func leaderless() throws {
            let harness = try Harness(.supervisor)
            let task = try harness.makeTask()
            _ = try task.start(
                LaunchRequest(
                    arguments: [try builtProgram("process-test-child"), "spin-without-leader"]))
            try harness.waitFor { harness.startedProcessID != nil }
            let process = try #require(harness.startedProcessID)
            try harness.waitFor { !isAlive(process) }
            try task.setFrozen(true)
            try harness.wait { $0.what == .frozen(true) }
            let ticks = try processorTicks(of: process)
            poll(nil, 0, 100)
            #expect(try processorTicks(of: process) == ticks)
            try task.setFrozen(false)
            try harness.waitFor { try processorTicks(of: process) > ticks }
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test("who lets a stopped process go on is seen")
        func continuedByOthers() throws {
            let harness = try Harness(.supervisor)
            let task = try harness.startSleeping()
            try task.setFrozen(true)
            try harness.wait { $0.what == .frozen(true) }
            #expect(task.isFrozen)
            #expect(Glibc.kill(try #require(harness.startedProcessID), SIGCONT) == 0)
            try harness.waitFor { !task.isFrozen }
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }
    }
}

/// The processor time of a process and its threads so far, in clock ticks (proc_pid_stat(5), fields 14
/// and 15).
func processorTicks(of processID: Int32) throws -> Int {
    try #require(ProcessStat.processorTicks(contents(of: "/proc/\(processID)/stat")))
}
