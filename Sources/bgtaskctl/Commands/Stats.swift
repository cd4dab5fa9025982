internal import ArgumentParser
internal import TaskAPI
internal import Varlink

/// Shows what the daemon has counted.
struct Stats: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Show what the daemon has counted since its start.",
        discussion: """
            If the output is no terminal, the fields are separated by tabs: name with labels, value, help.

            Example: bgtaskctl stats
            """
    )

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let console = session.console
        let counters = try session.connect().call(Manager.Statistics.self, Empty()).counters
        if console.isJSON {
            for counter in counters { console.write(JSONLine.text(counter)) }
        } else {
            console.write(CounterText.table(counters).text(console.style))
        }
        return 0
    }
}
