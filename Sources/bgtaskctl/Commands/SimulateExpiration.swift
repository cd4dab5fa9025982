internal import ArgumentParser
internal import TaskAPI

/// Fires a handler early.
struct SimulateExpiration: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Fire a task's handler now, to test it.",
        discussion: """
            As if the budget had run out: the grace begins, and the limit comes after it.

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
