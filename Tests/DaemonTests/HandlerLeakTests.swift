import TaskAPI
import Testing
import Varlink

@Suite("What the command of an expiration handler leaves")
struct HandlerLeakTests {
    @Test(
        "once it has ended, the daemon has no descriptor more, however long the task goes on",
        arguments: ContainmentMode.available)
    func descriptors(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(script: "echo ready; exec sleep 1000") {
            $0.budget = Tasks.Budget(ms: 500_000, grace: 400_000)
            $0.expiration = Tasks.ExpirationHandler(
                signal: "", command: ["sh", "-c", "echo told; echo told >&2"])
        }
        try daemon.waitForOutput("ready", of: id)
        let before = try descriptorCount(daemon)
        for round in 1...5 {
            _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
            try eventually("the command of round \(round) has ended") {
                try daemon.output(of: id).map(\.text).joined().split(separator: "\n").count
                    == 1 + 2 * round
            }
            try eventually("all is let go of") { try descriptorCount(daemon) <= before }
            _ = try client.ask(Tasks.Extend.self) { $0.id = id }
        }
    }

    @Test("what it leaves running does not keep its pipes", arguments: ContainmentMode.available)
    func survivors(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(script: "echo ready; exec sleep 1000") {
            $0.budget = Tasks.Budget(ms: 500_000, grace: 400_000)
            $0.expiration = Tasks.ExpirationHandler(
                signal: "", command: ["sh", "-c", "sleep 1000 & echo told"])
        }
        try daemon.waitForOutput("ready", of: id)
        let before = Processes.descriptorCount(of: daemon.processID, "pipe")
        #expect(before >= 2)
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        try daemon.waitForOutput("told", of: id)
        try eventually("its pipes are let go of") {
            Processes.descriptorCount(of: daemon.processID, "pipe") <= before
        }
        _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try client.ended(id).outcome == .cancelled)
    }

    /// Of the daemon, once nobody but the test's client is connected.
    private func descriptorCount(_ daemon: DaemonProcess) throws -> Int {
        let client = try daemon.connect()
        try eventually("two connections are left") { try client.counter("connections") == 2 }
        return Processes.descriptorCount(of: daemon.processID)
    }
}
