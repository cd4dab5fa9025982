import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

/// What `clean` asks, and what it says.
@Suite struct CleanTests {
    private static func ended(
        _ id: Int, _ outcome: Tasks.Outcome, name: String = "backup", endedMs: Int = 1000
    ) -> Tasks.Task {
        var task = Sample.ended(outcome)
        (task.id, task.name, task.endedMs) = (id, name, endedMs)
        return task
    }

    /// A daemon whose disk knows some tasks, and whose memory others.
    private func daemon(_ past: [Tasks.Task], _ listed: [Tasks.Task]) throws -> FakeDaemon {
        try FakeDaemon {
            guard let asked = try? $0.nextCall()?.decode(Tasks.History.Input.self) else { return }
            func isMeant(_ task: Tasks.Task) -> Bool {
                asked.name ?? task.name == task.name
                    && asked.outcomes?.contains { $0 == task.outcome } != false
            }
            for task in past where isMeant(task) {
                var page = Tasks.History.Output()
                page.task = task
                $0.send(page, continues: true)
            }
            $0.send(Tasks.History.Output())
            let list = try? $0.nextCall()?.decode(Tasks.List.Input.self)
            #expect(list?.name == asked.name && list?.outcomes == asked.outcomes)
            for task in listed where isMeant(task) {
                var page = Tasks.List.Output()
                page.task = task
                $0.send(page, continues: true)
            }
            $0.send(Tasks.List.Output())
            while $0.nextCall() != nil { $0.send(Empty()) }
        }
    }

    @Test(
        "without a task, all that ended are removed, or those that the options choose",
        arguments: [
            ([], [1, 2, 3, 4]), (["--outcome", "completed"], [1, 3]), (["--name", "web"], [2, 4]),
            (["--before", "1h"], [3]), (["--name", "web", "--outcome", "failed"], [2]),
            (["web"], [2, 4]),
        ])
    func chosen(arguments: [String], expected: [Int]) throws {
        let daemon = try daemon(
            [
                Self.ended(3, .completed, endedMs: 7_200_000), Self.ended(2, .failed, name: "web"),
                Self.ended(1, .completed),
            ],
            [Self.ended(2, .failed, name: "web"), Self.ended(4, .expired, name: "web")])
        let run = try CommandRun(
            [CommandRun.program, "clean", "--json"] + arguments, ["BGTASK_SOCKET=\(daemon.path)"])
        #expect(run.finish() == 0)
        #expect(run.output == "{\"removed\":\(expected.count)}\n")
        let ids = expected.map(String.init).joined(separator: ",")
        #expect(daemon.parameters(of: Tasks.Clean.self).map(\.text) == ["{\"ids\":[\(ids)]}"])
    }

    @Test("many are removed some hundred at a time")
    func many() throws {
        let daemon = try daemon((1...1201).map { Self.ended($0, .completed) }, [])
        let run = try CommandRun(daemon, "clean", "--json")
        #expect(run.finish() == 0)
        #expect(run.output == "{\"removed\":1201}\n")
        #expect(daemon.parameters(of: Tasks.Clean.self).count == 3)
    }

    @Test("a name of which nothing has ended is refused, and nothing is removed")
    func unknown() throws {
        let daemon = try daemon([], [])
        let run = try CommandRun(daemon, "clean", "nothing")
        #expect(run.finish() == 1)
        #expect(run.errors.contains("no task nothing has ended"))
        #expect(daemon.parameters(of: Tasks.Clean.self).isEmpty)
    }

    @Test(
        "what does not go together, and all of everybody's, is refused",
        arguments: [["7", "--name", "a"], ["--all"], [""]])
    func refused(arguments: [String]) throws {
        let run = try CommandRun(
            [CommandRun.program, "clean"] + arguments, ["BGTASK_SOCKET=/nowhere"])
        #expect(run.finish() == 64)
        #expect(run.errors.split(separator: "\n").count == 1)
    }
}
