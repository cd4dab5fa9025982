internal import ArgumentParser
internal import TaskAPI

/// Starts a queued task now.
struct SimulateLaunch: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Start a queued task now, to test what it does.",
        discussion: """
            It waits for no time, no condition and no pause of its own any more, and starts as soon as it has \
            a slot. What it comes after, its name and the pause of its group still hold it back.

            Example: bgtaskctl simulate-launch 42
            """
    )

    @Argument(help: "The task.", completion: .taskNumbers, transform: TaskNumber.parse)
    var id: TaskNumber

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.SimulateLaunch.Input()
        (input.id, input.all) = (id.value, reach.asked)
        let reply = try session.connect().call(Tasks.SimulateLaunch.self, input)
        session.console.show(reply, "")
        return 0
    }
}
