internal import ArgumentParser
internal import Glibc
internal import TaskAPI
internal import Varlink

/// Describes the daemon.
struct Status: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Describe the daemon: its tasks, profiles, limits and settings.",
        discussion: "Example: bgtaskctl --system status"
    )

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        let console = session.console
        let daemon = try connection.call(Manager.Describe.self, Empty())
        guard !console.isJSON else {
            console.write(JSONLine.text(daemon))
            return 0
        }
        var summary = TaskSummary()
        var input = Tasks.List.Input()
        input.all = geteuid() == 0 ? true : nil
        try connection.stream(Tasks.List.self, input) { reply throws(Failure) in
            for task in [reply.task].compactMap({ $0 }) + (reply.tasks ?? []) { summary.add(task) }
        }
        console.write(
            StatusText(daemon: daemon, socket: connection.socket.path, summary: summary)
                .text(console.style))
        return 0
    }
}

/// Shows what the daemon has counted.
struct Stats: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Show what the daemon has counted since its start.",
        discussion: """
            Where the output is no terminal, the fields are divided by tabs: name with labels, value, help.

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

/// Has the daemon read its settings again.
struct Reload: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Have the daemon read its settings again.",
        discussion: """
            Says which settings have changed, and which of them act only after a restart. Where one is \
            wrong, all stay as they were.

            Example: bgtaskctl --system reload
            """
    )

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let console = session.console
        let reloaded = try session.connect().call(Manager.Reload.self, Empty())
        var fields = Fields()
        for key in reloaded.changed where !reloaded.needRestart.contains(key) {
            fields.add("changed", key)
        }
        for key in reloaded.needRestart { fields.add("needs a restart", key, .yellow) }
        console.show(reloaded, fields.text(console.style))
        if reloaded.changed.isEmpty, reloaded.needRestart.isEmpty {
            console.hint("no setting has changed")
        }
        return 0
    }
}
