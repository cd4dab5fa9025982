internal import ArgumentParser
internal import TaskAPI

extension App {
    /// Lists applications.
    struct List: Verb {
        static let configuration = CommandConfiguration(
            abstract: "List applications, their states, and what time they have left.",
            discussion: """
                If the output is no terminal, the fields are separated by tabs: id, (with --all) user, \
                state, tasks, background time left, time in the background, badge, processes, how the last \
                run ended.

                Example: bgtaskctl app list
                """
        )

        @Flag(help: "Applications of all users; for root and the group of operators.")
        var all = false

        @OptionGroup var global: GlobalOptions

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Applications.List.Input()
            input.all = all ? true : nil
            let console = session.console
            let applications = try session.connect().call(Applications.List.self, input)
                .applications
            if console.isJSON {
                for application in applications { console.write(JSONLine.text(application)) }
            } else if applications.isEmpty {
                console.hint("no application is registered; see: bgtaskctl help app register")
            } else {
                let table = ApplicationText.table(applications, owners: all)
                console.write(table.text(console.style))
            }
            return 0
        }
    }

    /// Shows all that is known of an application.
    struct Show: Verb {
        static let configuration = CommandConfiguration(
            abstract:
                "Show everything that is known of an application, and how its last run ended.",
            discussion: "Example: bgtaskctl app show player"
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @OptionGroup var global: GlobalOptions

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Applications.Reference()
            input.id = id
            let application = try session.connect().call(Applications.Show.self, input).application
            let console = session.console
            console.show(application, ApplicationText.fields(application).text(console.style))
            return 0
        }
    }

    /// Shows transitions as they happen.
    struct Watch: Verb {
        static let configuration = CommandConfiguration(
            abstract: "Show what happens to applications, as it happens.",
            discussion: """
                The present states first, then what happens until Ctrl-C. If the output is no terminal, \
                the fields are divided by tabs: time, id, state before, state, callback, detail.

                Example: bgtaskctl app watch
                """
        )

        @Argument(help: "The application; all of yours if not given.", completion: .applications)
        var id: String?

        @Flag(help: "Applications of all users; for root and the group of operators.")
        var all = false

        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if id != nil, all { throw ValidationError("give an application or --all, not both") }
        }

        func perform(_ session: Session) throws(Failure) -> Int32 {
            let connection = try session.connect()
            let console = session.console
            try connection.checkService()
            var input = Applications.Watch.Input()
            input.id = id
            input.all = all ? true : nil
            var lines = TransitionLines()
            try connection.stream(Applications.Watch.self, input) { reply throws(Failure) in
                if let missed = lines.missed(before: reply.event) { console.notice(missed) }
                console.show(
                    event: reply.event,
                    lines.line(
                        reply.event, at: WallClock.moment(console.style), console.style))
            }
            return 0
        }
    }

    /// Says why an application is as it is.
    struct Explain: Verb {
        static let configuration = CommandConfiguration(
            abstract: "Say why an application is in its state, and why it was last stopped.",
            discussion: """
                Says as well what would be frozen or killed if applications.enforce were true.

                Example: bgtaskctl app explain player
                """
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @OptionGroup var global: GlobalOptions

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Applications.Reference()
            input.id = id
            let explanations = try session.connect().call(Applications.Explain.self, input)
                .explanations
            let console = session.console
            if console.isJSON {
                for explanation in explanations { console.write(JSONLine.text(explanation)) }
            } else {
                console.write(ExplanationText.lines(explanations, console.style))
            }
            if explanations.isEmpty { console.hint("nothing holds it back, and nothing limits it") }
            return 0
        }
    }
}
