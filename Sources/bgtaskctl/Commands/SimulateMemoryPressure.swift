internal import ArgumentParser
internal import TaskAPI

/// Kills what is suspended.
struct SimulateMemoryPressure: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Kill suspended applications, as memory pressure would.",
        discussion: """
            The least recently used one, or as many as --count says, of your own; root reaches those of \
            everybody. They get no warning. Prints their ids, one a line.

            Example: bgtaskctl simulate-memory-pressure --count 2
            """
    )

    @Option(help: ArgumentHelp("How many, 1 if not given.", valueName: "count"))
    var count: Int?

    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is a number from 1 on") }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Applications.SimulateMemoryPressure.Input()
        input.count = count
        let console = session.console
        let reply = try session.connect().call(Applications.SimulateMemoryPressure.self, input)
        let lines = reply.terminated.map { VisibleText.oneLine($0) + "\n" }
        console.show(reply, lines.joined())
        if reply.terminated.isEmpty { console.hint("no application is suspended") }
        return 0
    }
}
