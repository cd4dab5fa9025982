/// What the expiration handler of a run task does, in this order.
package struct ExpirationHandler: Equatable, Sendable {
    /// Sent to every process of the task; `nil` sends none.
    package var signal: SignalNumber?
    /// Run beside the task; the task ends when both have.
    package var command: [String]?

    package init(signal: SignalNumber? = .terminate, command: [String]? = nil) {
        self.signal = signal
        self.command = command
    }
}

/// A command and what it needs to run; the core carries it and does not look inside.
package struct Work: Equatable, Sendable {
    package var command: [String]
    package var directory: String?
    package var environment: [String: String]
    package var expiration: ExpirationHandler
    package var submitter: Submitter
    /// What the command reads as its standard input, as the submitter encoded it; `nil`: nothing.
    package var input: String?

    package init(
        command: [String],
        directory: String? = nil,
        environment: [String: String] = [:],
        expiration: ExpirationHandler = ExpirationHandler(),
        submitter: Submitter = Submitter()
    ) {
        self.command = command
        self.directory = directory
        self.environment = environment
        self.expiration = expiration
        self.submitter = submitter
    }

    /// Whether there is no command, and the application that the task names does the work itself.
    package var wakesApplication: Bool { command.isEmpty }

    /// What it takes in memory, about.
    package var byteCount: Int {
        var count = (directory?.utf8.count ?? 0) + 16
        for argument in command { count += argument.utf8.count + 16 }
        if let command = expiration.command {
            for argument in command { count += argument.utf8.count + 16 }
        }
        for (name, value) in environment { count += name.utf8.count + value.utf8.count + 32 }
        return count + submitter.byteCount + (input?.utf8.count ?? 0)
    }

    /// What is kept of it once its task has ended.
    var tombstone: Work { Work(command: shownCommand) }

    /// The command in a length for people: what does not fit is cut, with a mark in its place.
    package var shownCommand: [String] {
        var room = Work.shownBytesMax
        var shown: [String] = []
        for argument in command {
            room -= Work.argumentOverhead
            guard argument.utf8.count <= room else {
                let mark = "…"
                return shown + [room < mark.utf8.count ? mark : argument.cut(toBytes: room)]
            }
            room -= argument.utf8.count
            shown.append(argument)
        }
        return shown
    }

    private static let shownBytesMax = 4096
    /// What an argument takes besides its text, so that there are not too many of them either.
    private static let argumentOverhead = 16
}
