internal import ArgumentParser
internal import TaskAPI

/// Fires a handler early.
struct SimulateExpiration: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Warn a task now, to test what it does then.",
        discussion: """
            As if the budget were nearly spent: its expiration handler runs, its grace starts, and the \
            limit comes after it.

            Example: bgtaskctl simulate-expiration 42
            """
    )

    @Argument(help: "The task.", completion: .taskNumbers, transform: TaskNumber.parse)
    var id: TaskNumber

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.SimulateExpiration.Input()
        input.id = id.value
        input.all = reach.asked
        let reply = try session.connect().call(Tasks.SimulateExpiration.self, input)
        session.console.show(reply, "")
        return 0
    }
}
