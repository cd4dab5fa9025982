internal import ArgumentParser
internal import TaskAPI

/// Says why a task is as it is.
struct Explain: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Say which rule holds a task back, bounds it, or stopped it.",
        discussion: "Example: bgtaskctl explain 42"
    )

    @Argument(help: "The task.") var id: TaskNumber

    @OptionGroup var reach: ReachOptions

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Tasks.Explain.Input()
        input.id = id.value
        input.all = reach.asked
        let console = session.console
        let explanations = try session.connect().call(Tasks.Explain.self, input).explanations
        if console.isJSON {
            for explanation in explanations { console.write(JSONLine.text(explanation)) }
        } else {
            console.write(ExplanationText.lines(explanations, console.style))
        }
        if explanations.isEmpty { console.hint("nothing holds it back, and nothing bounds it") }
        return 0
    }
}
