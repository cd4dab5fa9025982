internal import ArgumentParser
internal import TaskAPI

/// Says why tasks are as they are.
struct Explain: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Say which rule holds a task back, limits it, or stopped it.",
        usage: "bgtaskctl explain [<task> ...] [<options>]",
        discussion: """
            One rule a line; of several tasks the lines stand below one that names the task.

            Example: bgtaskctl explain 42
            """
    )

    @OptionGroup var selection: TaskSelection

    @OptionGroup var global: GlobalOptions

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        var input = Tasks.Explain.Input()
        input.all = selection.reach.asked
        let tasks = try selection.chooseOrLast(connection, session.console)
        let console = session.console
        var text = ""
        let status = try session.each(of: tasks, connection, all: input.all) { id throws(Failure) in
            input.id = id
            let explanations = try connection.call(Tasks.Explain.self, input).explanations
            if console.isJSON {
                for explanation in explanations {
                    console.write(JSONLine.text(explanation, of: id))
                }
            } else {
                if tasks.count > 1 { text += "==> task \(id) <==\n" }
                text += ExplanationText.lines(explanations, console.style)
            }
            guard explanations.isEmpty else { return }
            let nothing = "nothing holds it back, and nothing limits it"
            if tasks.count > 1, console.style.isTerminal {
                text += nothing + "\n"
            } else {
                console.hint(nothing)
            }
        }
        console.page(text)
        return status
    }
}
