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
