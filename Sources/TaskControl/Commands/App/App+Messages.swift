internal import ArgumentParser
internal import JSON
internal import TaskAPI
internal import Varlink

extension App {
    /// Routes a message to an application.
    struct Push: Verb {
        static let configuration = CommandConfiguration(
            abstract: "Send an application a message.",
            discussion: """
                Which callback it gets depends on its state, on what the user did, and on what it handles. Without \
                --tapped and --opened the message only arrives. A silent one may wake it for a short time.

                The exit status is 0 if it is delivered or will be, and 2 if it is dropped.

                Example: bgtaskctl app push player --tapped --payload '{"song": 7}' --badge 1
                """
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @Flag(help: "Nothing is shown to the user.")
        var silent = false

        @Flag(help: "The user opened the message.")
        var tapped = false

        @Flag(help: "The user opened the application, and not the message.")
        var opened = false

        @Option(
            help: ArgumentHelp(
                "What it says: a JSON object of 4096 bytes at most.", valueName: "json"),
            transform: PayloadOption.object)
        var payload: JSONValue?

        @Option(help: ArgumentHelp("The badge from now on.", valueName: "number"))
        var badge: Int?

        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if tapped, opened { throw ValidationError("give --tapped or --opened, not both") }
            if silent, tapped || opened {
                throw ValidationError("a --silent message is not shown, so nobody opens it")
            }
            if let badge, badge < 0 { throw ValidationError("a badge is 0 or more") }
        }

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Applications.Push.Input()
            input.id = id
            input.kind = silent ? .silent : .alert
            input.action = tapped ? .tapped : opened ? .opened : .none
            input.payload = payload
            input.badge = badge
            let reply = try session.connect().call(Applications.Push.self, input)
            session.console.show(reply, ReceiptText.line(reply))
            return reply.receipt == .dropped ? ExitStatus.dropped : 0
        }
    }

    /// Sets a badge.
    struct Badge: Verb {
        static let configuration = CommandConfiguration(
            abstract: "Set the badge of an application.",
            discussion: "Example: bgtaskctl app badge player 0"
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @Argument(help: "The badge; 0 for none.") var number: Int

        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if number < 0 { throw ValidationError("a badge is 0 or more") }
        }

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Applications.SetBadge.Input()
            input.id = id
            input.badge = number
            let reply = try session.connect().call(Applications.SetBadge.self, input)
            let what = number == 0 ? "no badge" : "badge \(number)"
            session.console.show(reply, "\(VisibleText.oneLine(id)) has \(what)\n")
            return 0
        }
    }

    /// Says what an application implements, or shows it.
    struct Handles: Verb {
        static let configuration = CommandConfiguration(
            abstract: "Say which callbacks an application implements, or show them.",
            discussion: """
                It is notified of those that are named and of no others from now on. A program says so at its start, \
                where whoever registered it does not know.

                Example: bgtaskctl app handles player didEnterBackground willEnterForeground
                """
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @Argument(help: "The callbacks.") var callbacks: [Applications.Callback] = []

        @Flag(name: .customLong("all"), help: "All callbacks.")
        var everything = false

        @OptionGroup var global: GlobalOptions

        func validate() throws {
            if everything, !callbacks.isEmpty {
                throw ValidationError("name callbacks or give --all, not both")
            }
        }

        func perform(_ session: Session) throws(Failure) -> Int32 {
            let connection = try session.connect()
            guard everything || !callbacks.isEmpty else { return try show(connection, session) }
            var input = Applications.SetHandles.Input()
            input.id = id
            let handled = Applications.Callback.allCases.filter(callbacks.contains)
            input.handles = everything ? nil : handled
            let reply = try connection.call(Applications.SetHandles.self, input)
            session.console.show(reply, line(input.handles))
            return 0
        }

        private func show(
            _ connection: DaemonConnection, _ session: Session
        ) throws(Failure) -> Int32 {
            var input = Applications.Reference()
            input.id = id
            let application = try connection.call(Applications.Show.self, input).application
            session.console.show(application, line(application.handles))
            return 0
        }

        private func line(_ handles: [Applications.Callback]?) -> String {
            let what =
                handles?.map(\.rawValue).joined(separator: ", ") ?? "every callback"
            return "\(VisibleText.oneLine(id)) handles \(what.isEmpty ? "nothing" : what)\n"
        }
    }

    /// Says that a message is done with.
    struct Delivered: Verb {
        static let configuration = CommandConfiguration(
            abstract: "Say for an application that it is done with a message or a task.",
            discussion: """
                To be called for silent messages, for those with a fetch, and for tasks that it does itself; app watch \
                names the delivery. A second time changes nothing.

                Example: bgtaskctl app delivered player 12
                """
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @Argument(help: "The delivery.") var delivery: Int

        @Flag(help: "It was a task, and that has failed.")
        var failed = false

        @OptionGroup var global: GlobalOptions

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Applications.Delivered.Input()
            input.id = id
            input.deliveryId = delivery
            if failed { input.success = false }
            let reply = try session.connect().call(Applications.Delivered.self, input)
            session.console.show(
                reply, "\(VisibleText.oneLine(id)) is done with delivery \(delivery)\n")
            return 0
        }
    }
}

/// A message's payload on the command line.
enum PayloadOption {
    /// A JSON object.
    static func object(_ text: String) throws -> JSONValue {
        let value: JSONValue
        do {
            value = try JSONDocument(parsing: text.utf8).value()
        } catch {
            throw ValidationError("it is no JSON: \(error)")
        }
        guard case .object = value else {
            throw ValidationError("it is JSON, and no object such as {\"key\": 1}")
        }
        return value
    }
}
