import Foundation
import TaskAPI
import TestKit
import Testing
import Varlink

/// A program of its own uses the library: tests that wait would keep its tasks from their threads.
@Suite("The library BackgroundTime")
struct BackgroundTimeTests {
    private let daemon: Daemon
    private let client: VarlinkClient

    init() throws {
        daemon = try Daemon()
        client = try VarlinkClient(address: daemon.socket, timeout: .seconds(300))
    }

    private func start(_ scenario: String, at socket: String? = nil) throws -> Program {
        try Program(
            Programs.path("background-time-check"), [scenario, socket ?? daemon.socket],
            takesInput: true)
    }

    private func tasks(ended: Bool = false) throws -> [Tasks.Task] {
        var input = Tasks.List.Input()
        input.ended = ended
        return try client.call(Tasks.List.self, input).tasks ?? []
    }

    private func connectionCount() throws -> Int? {
        try client.call(Manager.Statistics.self, Empty()).counters
            .first { $0.name == "bgtaskd_connections" }?.value
    }

    @Test("work in time returns its value, and is shown as it reports")
    func value() throws {
        let program = try start("value")
        #expect(program.waitForOutput("begun 1, true"))
        let task = try #require(try tasks().first)
        #expect(task.name == "upload" && task.status == "packing")
        #expect(task.progress?.completed == 3 && task.progress?.total == 8)
        #expect(task.budget?.durationMs == 300_000 && task.budget?.graceMs == 5000)
        #expect(try connectionCount() == 3)
        program.say("\n")
        #expect(program.waitForEnd().text.hasSuffix("value true\n"))
        #expect(try tasks(ended: true).map(\.outcome) == [.completed])
    }

    @Test("work is cancelled when its time is nearly over, and told of by an error")
    func expires() throws {
        let text = try start("expires").waitForEnd().text
        #expect(
            text == """
                told expiring(reason: Optional("its budget is spent")), true
                the time of late was up (expired)

                """)
        #expect(try tasks(ended: true).map(\.outcome) == [.expired])
    }

    @Test("what is done within the grace counts")
    func saves() throws {
        #expect(try start("saves").waitForEnd().text == "saved\n")
    }

    @Test("who is cancelled by somebody else hears of that, and holds nothing")
    func cancelled() throws {
        let program = try start("cancelled")
        #expect(program.waitForOutput("begun"))
        program.say("\n")
        #expect(program.waitForEnd().text.contains("CancellationError"))
        #expect(try tasks().isEmpty)
    }

    @Test("a daemon that goes promises no time any more, and the next one does")
    func lost() throws {
        let program = try start("lost")
        #expect(program.waitForOutput("begun"))
        try daemon.restart()
        #expect(program.waitForOutput("the time of lost was up"))
        program.say("\n")
        #expect(program.waitForEnd().text.contains("again true"))
    }

    @Test("without a daemon it goes on without a limit, or fails, as was asked for")
    func alone() throws {
        let text = try start("alone", at: "/nonexistent/socket").waitForEnd().text
        #expect(
            text == """
                true, true
                no bgtaskd at /nonexistent/socket: No such file or directory

                """)
    }

    @Test("a refusal has its name and its reason")
    func refused() throws {
        let text = try start("refused").waitForEnd().text
        #expect(text.hasPrefix("bgtaskd refuses this: InvalidParameter (must be 1 to 255 bytes"))
    }

    @Test("two connections hold a thousand tasks, and each is told")
    func many() throws {
        let program = try start("many")
        #expect(program.waitForOutput(Array(repeating: "begun\n", count: 1000).joined()))
        #expect(try connectionCount() == 3)
        var input = Tasks.Reference()
        for task in try tasks() {
            input.id = task.id
            _ = try client.call(Tasks.SimulateExpiration.self, input)
        }
        #expect(
            program.waitForEnd().text == "1000 times: the time of one of many was up (expired)\n")
    }
}
