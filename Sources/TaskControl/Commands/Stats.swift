internal import ArgumentParser
internal import TaskAPI
internal import Varlink

/// Shows what the daemon has counted.
struct Stats: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Show what the daemon has counted since its start.",
        discussion: """
            If the output is no terminal, the fields are separated by tabs: name with labels, value, help.

            Example: bgtaskctl stats --openmetrics
            """
    )

    @OptionGroup var global: GlobalOptions

    @Flag(help: "Print OpenMetrics 1.0, as Prometheus scrapes it.")
    var openmetrics = false

    @Flag(help: "Print the text format of Prometheus, which node_exporter reads from files.")
    var prometheus = false

    @Option(
        help: ArgumentHelp(
            "Replace a file by it, which others may be reading.", valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Do not have systemd start a daemon that does not run.")
    var noStart = false

    func validate() throws {
        if openmetrics && prometheus {
            throw ValidationError("give --openmetrics or --prometheus, not both")
        }
        if global.json && format != nil {
            throw ValidationError("--json is another format than the one that is asked for")
        }
        if let output {
            if format == nil {
                throw ValidationError("--output needs --prometheus or --openmetrics")
            }
            if output.isEmpty || output.hasSuffix("/") {
                throw ValidationError("--output needs the name of a file")
            }
        }
    }

    private var format: MetricsText.Format? {
        openmetrics ? .openMetrics : prometheus ? .prometheus : nil
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        guard let format else { return show(try statistics(session), session.console) }
        let metrics = MetricsText(format: format)
        guard let output else {
            let text = metrics.text(try statistics(session))
            let console = session.console
            console.write(console.style.isTerminal ? VisibleText.lines(text) : text)
            return 0
        }
        let file = TextFile(path: output)
        let told: Manager.Statistics.Output
        do throws(Failure) {
            told = try statistics(session)
        } catch {
            // What it said before holds no longer.
            try file.replace(with: metrics.textWithoutDaemon)
            // One that is not to be started may well not run.
            guard error.status == Self.notRunning else { throw error }
            return 0
        }
        try file.replace(with: metrics.text(told))
        return 0
    }

    private func statistics(
        _ session: Session
    ) throws(Failure) -> Manager.Statistics.Output {
        if noStart, try !DaemonService(global.socketChoice()).isActive() {
            throw Failure("the daemon does not run", status: Self.notRunning)
        }
        return try session.connect().call(Manager.Statistics.self, Empty())
    }

    /// The exit status where a daemon does not run that is not to be started (EX_UNAVAILABLE of sysexits.h).
    private static let notRunning: Int32 = 69

    private func show(_ statistics: Manager.Statistics.Output, _ console: Console) -> Int32 {
        if console.isJSON {
            for counter in statistics.counters { console.write(JSONLine.text(counter)) }
            for gauge in statistics.gauges ?? [] { console.write(JSONLine.text(gauge)) }
            for histogram in statistics.histograms ?? [] { console.write(JSONLine.text(histogram)) }
        } else {
            console.page(CounterText.text(statistics, console.style))
        }
        return 0
    }
}
