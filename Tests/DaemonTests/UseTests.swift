import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// What a task used of the machine is in its record.
@Suite("What a task used")
struct UseTests {
    /// A command that computes for 200 ms by its own count and holds 64 MiB.
    private static func burn(_ mode: String = "burn") -> [String] {
        [Programs.path("process-test-child"), mode, "200", "64"]
    }

    private func expectUse(_ task: Tasks.Task?) throws {
        let task = try #require(task)
        #expect(try #require(task.cpuMs) >= 200)
        // A sanitizer's daemon may hold more itself, and then nothing is known of less.
        if getenv("BGTASK_SANITIZED") != nil, task.memoryPeakBytes == nil { return }
        #expect(try #require(task.memoryPeakBytes) >= 64 << 20)
    }

    @Test(
        "processor time and peak memory are in its record, in the history and after a restart",
        arguments: ContainmentMode.available)
    func recorded(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let heavy = try client.submit(Self.burn())
        let task = try client.ended(heavy)
        try expectUse(task)
        try expectUse(client.show(heavy))
        try expectUse(client.ask(Tasks.History.self).tasks?.first)
        try expectUse(client.ask(Tasks.List.self) { $0.ended = true }.tasks?.first)
        try daemon.waitForLog("BGTASK_CPU_USEC=")
        if let bytes = task.memoryPeakBytes {
            try daemon.waitForLog("BGTASK_MEMORY_PEAK_BYTES=\(bytes)")
        }
        let light = try client.ended(client.submit(["true"]))
        #expect(try #require(light.cpuMs) < 200)
        #expect(light.memoryPeakBytes ?? 0 < 64 << 20)
        #expect(try daemon.stop() == .status(0))

        let next = try DaemonProcess(mode, in: daemon.folder)
        let other = try next.connect()
        let restored = try other.show(heavy)
        try expectUse(restored)
        #expect(restored.cpuMs == task.cpuMs)
        #expect(restored.memoryPeakBytes == task.memoryPeakBytes)
        let stored = try #require(try other.ask(Tasks.History.self).tasks)
        #expect(stored.map(\.cpuMs) == [light.cpuMs, task.cpuMs])
        #expect(stored.map(\.memoryPeakBytes) == [light.memoryPeakBytes, task.memoryPeakBytes])
    }

    @Test(
        "a task that was killed has what it used until then",
        arguments: ContainmentMode.available)
    func killed(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(Self.burn("burn-and-stay"))
        try daemon.waitForOutput("done\n", of: id)
        _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
        let task = try client.ended(id)
        #expect(task.outcome == .cancelled)
        try expectUse(task)
    }

    @Test(
        "Show tells what a running task has used so far, and a listing does not",
        .enabled(if: ContainmentMode.whyNoCgroup == nil))
    func running() throws {
        let daemon = try DaemonProcess(.cgroup)
        let client = try daemon.connect()
        let id = try client.submit(Self.burn("burn-and-stay"))
        try daemon.waitForOutput("done\n", of: id)
        #expect(try #require(try client.show(id).cpuMs) >= 200)
        let listed = try #require(try client.ask(Tasks.List.self).tasks?.first)
        #expect(listed.id == id)
        #expect(listed.cpuMs == nil)
        #expect(listed.memoryPeakBytes == nil)
    }

    @Test("what has not run has used nothing", arguments: ContainmentMode.available)
    func notRun(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let failed = try client.ended(client.submit(["no-such-program-here"]))
        #expect(failed.cpuMs == nil)
        #expect(failed.memoryPeakBytes == nil)
        let held = try client.show(client.begin())
        #expect(held.cpuMs == nil)
    }
}
