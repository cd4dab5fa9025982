import TaskAPI
import TestKit
import Testing
import Varlink

@Suite("What programs report of their tasks")
struct ReportTests {
    private func report(
        _ client: VarlinkClient, _ id: Int, _ text: String? = nil, _ completed: Int? = nil,
        of total: Int? = nil
    ) throws {
        _ = try client.ask(Tasks.Report.self) {
            $0.id = id
            ($0.text, $0.completed, $0.total) = (text, completed, total)
        }
    }

    @Test(
        "a held task shows what was said last, to those who watch as it comes, and not after its end"
    )
    func held() throws {
        let daemon = try DaemonProcess(.supervisor)
        let (client, watcher) = (try daemon.connect(), try daemon.connect())
        let id = try client.begin()
        try watcher.send(Tasks.Watch.self, with { $0.id = id }, more: true)
        _ = try watcher.receive(Tasks.Watch.self)
        try report(client, id, "packing", 3, of: 10)
        try report(client, id, "packing", 3, of: 10)
        try report(client, id, nil, 4, of: 10)
        try report(client, id, "")
        var task = try client.show(id)
        #expect(task.status == nil)
        #expect(task.progress?.completed == 4 && task.progress?.total == 10)
        for expected in [("packing", 3), ("packing", 4), (nil, 4)] as [(String?, Int)] {
            let event = try watcher.receive(Tasks.Watch.self).output.event
            #expect(event.kind == .status)
            #expect(event.task.status == expected.0)
            #expect(event.task.progress?.completed == expected.1)
        }
        try report(client, id, String(repeating: "ä", count: 2000), 5)
        task = try client.show(id)
        #expect(task.status?.utf8.count == 1024 || task.status?.utf8.count == 1023)
        #expect(task.progress?.total == nil)
        _ = try client.ask(Tasks.End.self) { $0.id = id }
        task = try client.show(id)
        #expect(task.progress == nil && task.status == nil)
        let refusal = try client.refusal(of: Tasks.Report.self) {
            $0.id = id
            $0.text = "late"
        }
        #expect(refusal.name == Tasks.AlreadyEnded.name)
    }

    @Test("a command reports of itself, and its text is its status beyond its end")
    func run() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        let id = try client.submit(
            script: "\(Programs.path("bgtaskctl")) report --completed 1 --total 2 half && "
                + daemon.waits(for: "on"))
        try eventually("it has reported") { try client.show(id).progress?.completed == 1 }
        #expect(try client.show(id).status == "half")
        try daemon.letGo("on")
        let task = try client.ended(id)
        #expect(task.outcome == .completed && task.status == "half" && task.progress == nil)
    }

    @Test("what has not started, and what is wrong, is refused by name")
    func refused() throws {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        let client = try daemon.connect()
        _ = try client.submit(["sleep", "1000"])
        let queued = try client.submit(["true"])
        let refusal = try client.refusal(of: Tasks.Report.self) {
            $0.id = queued
            $0.completed = 1
        }
        #expect(refusal.name == Tasks.NotAccepting.name)
        let held = try client.begin()
        for (completed, total, name) in [
            (nil, 1, "total"), (-1, nil, "completed"),
        ] as [(Int?, Int?, String)] {
            let refusal = try client.refusal(of: Tasks.Report.self) {
                $0.id = held
                ($0.completed, $0.total) = (completed, total)
            }
            #expect(refusal.refuses(name))
        }
        #expect(try client.show(held).progress == nil)
    }
}
