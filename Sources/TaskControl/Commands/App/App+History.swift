internal import ArgumentParser
internal import TaskAPI

extension App {
    /// Lists in which states applications were.
    struct History: Verb {
        static let configuration = CommandConfiguration(
            abstract:
                "List in which states applications were, the newest first, and why runs ended.",
            usage: "bgtaskctl app history [<options>] [<id>]",
            discussion: """
                What goes on comes first. The history is on disk, and goes back as far as [store] historyMax, \
                historyBytesMax and historyAge say. Where the output is no terminal, the fields are divided by \
                tabs: when it began, (with --all) owner, id, state, how long, why the run before it ended. \
                --limit is 1000 if not given.

                Example: bgtaskctl app history player --since yesterday
                """
        )

        @Argument(help: "The application; all of yours if not given.", completion: .applications)
        var id: String?

        @Option(
            help: ArgumentHelp(
                "Only what ended since then, \(SinceOption.help), and what goes on.",
                valueName: "time"),
            transform: SinceOption.milliseconds)
        var since: Int?

        @Option(help: ArgumentHelp("Show at most so many.", valueName: "count"))
        var limit = 1000

        @Flag(help: "Applications of all users; for root and the group of operators.")
        var all = false

        @OptionGroup var global: GlobalOptions

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit must be at least 1") }
        }

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Applications.History.Input()
            (input.id, input.sinceMs, input.all) = (id, since, all ? true : nil)
            let console = session.console
            var spans: [Applications.Span] = []
            var count = 0
            try session.connect().streamWhile(Applications.History.self, input) {
                reply throws(Failure) in
                guard let span = reply.span else { return true }
                // One more than is shown tells whether there are more.
                guard count < limit else {
                    count += 1
                    return false
                }
                count += 1
                if console.isJSON { console.write(JSONLine.text(span)) } else { spans.append(span) }
                return true
            }
            guard !console.isJSON else { return 0 }
            guard !spans.isEmpty else {
                console.hint("nothing is known of \(id == nil ? "any application" : "it")")
                return 0
            }
            let users = UserNames()
            let table = SpanText.table(
                spans, owners: all, isPerson: console.style.isTerminal, users: users.name)
            console.page(table.text(console.style))
            if count > limit { console.hint("the newest \(limit); --limit shows more") }
            return 0
        }
    }
}
