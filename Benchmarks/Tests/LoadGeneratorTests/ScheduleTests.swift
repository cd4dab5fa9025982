import Testing

@testable import load_generator

@Suite("The schedule of an open loop")
struct ScheduleTests {
    @Test("has each operation due at its own time, whatever became of those before")
    func due() throws {
        let arguments = try Arguments([
            "echo", "/nowhere", "--rate", "1000", "--seconds", "2", "--warm-up", "1",
        ])
        let schedule = Schedule(arguments, start: 5_000)
        #expect(schedule.count == 3000)
        #expect(schedule.due(0) == 5_000)
        #expect(schedule.due(1) == 1_005_000)
        #expect(schedule.due(3000) == schedule.end)
        #expect(schedule.warmUpEnd == 1_000_005_000)
    }

    @Test(
        "is refused where it makes no sense",
        arguments: [["--rate", "0"], ["--clients", "1.5"], ["--depth", "65"], ["--speed", "3"]])
    func refused(options: [String]) {
        #expect(throws: (any Error).self) { try Arguments(["echo", "/nowhere"] + options) }
    }
}
