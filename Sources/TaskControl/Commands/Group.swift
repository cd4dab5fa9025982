internal import ArgumentParser
internal import TaskAPI
internal import Varlink

/// Looks after the groups of the queue.
struct Group: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the groups of the queue, pause and resume them.",
        discussion: """
            The settings name the groups, as [queue.groups.NAME]; run --group puts a command into one.

            Example: bgtaskctl group pause uploads
            """,
        subcommands: [List.self, Pause.self, Resume.self],
        defaultSubcommand: List.self
    )
}

extension Group {
    /// Lists the groups.
    struct List: Verb {
        static let configuration = CommandConfiguration(
            abstract: "List the groups, and what runs and waits in them.",
            discussion: """
                The tasks of all users are counted. If the output is no terminal, the fields are separated \
                by tabs: name, slots, running, queued, open or paused.

                Example: bgtaskctl group list
                """
        )

        @OptionGroup var global: GlobalOptions

        func perform(_ session: Session) throws(Failure) -> Int32 {
            let console = session.console
            let groups = try session.connect().call(Tasks.Groups.self, Empty()).groups
            if console.isJSON {
                for group in groups { console.write(JSONLine.text(group)) }
            } else if groups.isEmpty {
                console.hint(
                    "the settings name no group; see [queue.groups.NAME] in bgtaskd.toml(5)")
            } else {
                console.page(GroupText.table(groups).text(console.style))
            }
            return 0
        }
    }

    /// Holds a group back.
    struct Pause: Verb {
        static let configuration = CommandConfiguration(
            abstract: "Hold back what is queued in a group.",
            discussion: """
                What runs is not touched. The group stays paused until it is resumed, over a restart of the \
                daemon too. For operators.

                Example: bgtaskctl group pause uploads
                """
        )

        @Argument(help: ArgumentHelp("The group.", valueName: "group"), completion: .groups)
        var name: String

        @OptionGroup var global: GlobalOptions

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Tasks.PauseGroup.Input()
            input.group = name
            let reply = try session.connect().call(Tasks.PauseGroup.self, input)
            session.console.show(
                reply, GroupText.ordered(name, isPaused: true, session.console.style))
            return 0
        }
    }

    /// Lets a group go.
    struct Resume: Verb {
        static let configuration = CommandConfiguration(
            abstract: "Let queued tasks of a paused group start again.",
            discussion: """
                For operators.

                Example: bgtaskctl group resume uploads
                """
        )

        @Argument(help: ArgumentHelp("The group.", valueName: "group"), completion: .groups)
        var name: String

        @OptionGroup var global: GlobalOptions

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Tasks.ResumeGroup.Input()
            input.group = name
            let reply = try session.connect().call(Tasks.ResumeGroup.self, input)
            session.console.show(
                reply, GroupText.ordered(name, isPaused: false, session.console.style))
            return 0
        }
    }
}
