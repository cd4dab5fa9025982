internal import ArgumentParser
internal import TaskAPI

/// Warns what is awake, and kills what is suspended.
struct SimulateMemoryPressure: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Warn and kill applications, as memory pressure would.",
        discussion: """
            Those that are awake get didReceiveMemoryWarning. Of the suspended ones the least recently used one \
            is killed, or as many as --count says. Of your own; root reaches those of everybody. Prints the ids \
            of the killed ones, one a line.

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
