import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// Rule 31 in docs/architecture.md, of commands that run.
@Suite("A command that runs is paused, and goes on")
struct PauseTests {
    /// Prints a line now and then, and says how it is told.
    private static let script =
        "trap 'echo told; exit 0' TERM; echo ready; while :; do sleep 0.01; echo on; done"

    private func setPaused(_ id: Int, _ isPaused: Bool, _ client: VarlinkClient) throws {
        _ = try client.ask(Tasks.Change.self) {
            $0.id = id
            $0.paused = isPaused
        }
    }

    private func states(of id: Int, _ daemon: DaemonProcess) -> Set<Character> {
        Set(daemon.taskProcesses(of: id).compactMap(Processes.state))
    }

    /// Whether nothing of a task goes on. A shell whose child is stopped before it has executed its program waits for
    /// that (vfork(2)), and is not stopped itself.
    private func areStopped(_ id: Int, _ daemon: DaemonProcess) -> Bool {
        let states = states(of: id, daemon)
        return states.contains("T") && states.isSubset(of: ["T", "D"])
    }

    @Test(
        "31: all of its processes stop, and go on when it is resumed",
        arguments: ContainmentMode.available)
    func resumed(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        let id = try client.submit(script: Self.script)
        try daemon.waitForOutput("ready", of: id)
        try setPaused(id, true, client)
        try setPaused(id, true, client)
        #expect(try client.show(id).paused == true && client.show(id).state == .running)
        try eventually("they are stopped") { areStopped(id, daemon) }
        try setPaused(id, false, client)
        #expect(try client.show(id).paused == nil)
        try eventually("they go on") { !states(of: id, daemon).contains("T") }
    }

    @Test(
        "31: it is woken for its grace, and for a cancel", arguments: ContainmentMode.available)
    func woken(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess(mode)
        let client = try daemon.connect()
        for order in [true, false] {
            let id = try client.submit(script: Self.script) {
                $0.budget = Tasks.Budget(ms: 500_000, grace: 400_000)
            }
            try daemon.waitForOutput("ready", of: id)
            try setPaused(id, true, client)
            try eventually("they are stopped") { areStopped(id, daemon) }
            if order {
                _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
            } else {
                _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
            }
            let task = try client.ended(id)
            #expect(task.outcome == (order ? .expired : .cancelled))
            #expect(try daemon.text(of: id).hasSuffix("told\n"))
            #expect(task.paused == nil)
        }
    }

    @Test("31: a handler that is a command finds its program awake")
    func handler() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(script: "echo ready; while ! [ -e end ]; do sleep 0.05; done") {
            $0.directory = daemon.folder.path
            $0.budget = Tasks.Budget(ms: 500_000, grace: 400_000)
            $0.expiration = Tasks.ExpirationHandler(signal: "", command: ["touch", "end"])
        }
        try daemon.waitForOutput("ready", of: id)
        try setPaused(id, true, client)
        _ = try client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        let refusal = try client.refusal(of: Tasks.Change.self) {
            $0.id = id
            $0.paused = true
        }
        #expect([Tasks.NotAccepting.name, Tasks.AlreadyEnded.name].contains(refusal.name))
        #expect(try client.ended(id).outcome == .expired)
    }

    @Test(
        "31: nothing else of one that runs can be changed, and what a program holds cannot be paused"
    )
    func refused() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let (id, held) = (try client.submit(script: "exec sleep 1000"), try client.begin())
        try client.waitForBegin(of: id)
        for (task, priority) in [(id, 1), (held, nil)] as [(Int, Int?)] {
            let refusal = try client.refusal(of: Tasks.Change.self) {
                $0.id = task
                $0.paused = true
                $0.priority = priority
            }
            #expect(refusal.name == Tasks.NotAccepting.name)
        }
        #expect(try client.show(id).paused == nil)
    }
}
