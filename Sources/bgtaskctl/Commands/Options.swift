internal import ArgumentParser
internal import Settings
internal import TaskAPI
internal import Varlink

/// The number of a task, as `run` and `begin` print it.
struct TaskNumber: ExpressibleByArgument {
    let value: Int

    init?(argument: String) {
        guard let value = Int(argument), value >= 0 else { return nil }
        self.value = value
    }
}

/// A length of time on the command line, in the words of systemd.time(7).
enum SpanOption {
    static let help = "such as 180s, 3min or \"1h 30min\""

    /// Milliseconds; longer than any budget can be is cut.
    static func milliseconds(_ text: String) throws -> Int {
        let span: TimeSpan
        do throws(TimeSpan.Failure) {
            span = try TimeSpan(parsing: text)
        } catch {
            throw ValidationError("\(error); write it \(help)")
        }
        guard let milliseconds = span.milliseconds else {
            throw ValidationError("it has an end; what has none needs --profile unlimited")
        }
        return Int(milliseconds)
    }
}

/// Whose task it may be.
struct ReachOptions: ParsableArguments {
    @Flag(help: "A task of any user; for root and the group of operators.")
    var all = false

    /// What the call says of it.
    var asked: Bool? { all ? true : nil }
}

/// What is borrowed, and as what.
struct BorrowOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The task's name, for people.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("The application that the task belongs to.", valueName: "id"))
    var application: String?

    @Option(help: ArgumentHelp("A named budget; see bgtaskctl status.", valueName: "name"))
    var profile: String?

    @Option(
        help: ArgumentHelp("The hard limit, \(SpanOption.help).", valueName: "span"),
        transform: SpanOption.milliseconds)
    var budget: Int?

    @Option(
        help: ArgumentHelp("How long before the limit the handler fires.", valueName: "span"),
        transform: SpanOption.milliseconds)
    var grace: Int?

    /// The budget to ask for; `nil` for that of the profile.
    ///
    /// Where only the limit or only the grace is given, the profile has the other. What the profile will cut is said.
    func budget(
        from connection: DaemonConnection, _ console: Console
    ) throws(Failure) -> Tasks.Budget? {
        guard budget != nil || grace != nil else { return nil }
        let profile = try profile(from: connection)
        let result = try budget(in: profile)
        if let longest = profile.lifetimeMaxMs, longest < result.durationMs {
            console.notice(
                "the budget is cut to \(TimeText.span(longest)), the lifetime limit of profile "
                    + profile.name)
        }
        return result
    }

    private func budget(in profile: Manager.Profile) throws(Failure) -> Tasks.Budget {
        guard let duration = budget ?? profile.durationMs else {
            throw Failure(
                "profile \(profile.name) has no limit that a grace could precede; give --budget")
        }
        var result = Tasks.Budget()
        result.durationMs = duration
        result.graceMs = grace ?? profile.graceMs
        guard result.graceMs < result.durationMs else {
            throw Failure(
                "a grace of \(TimeText.span(result.graceMs)) is not shorter than the budget of "
                    + "\(TimeText.span(result.durationMs)); give a shorter --grace or a longer --budget"
            )
        }
        return result
    }

    private func profile(from connection: DaemonConnection) throws(Failure) -> Manager.Profile {
        let name = profile ?? "default"
        let profiles = try connection.call(Manager.Describe.self, Empty()).profiles
        guard let profile = profiles.first(where: { $0.name == name }) else {
            throw Failure("there is no profile \(name); bgtaskctl status names them")
        }
        return profile
    }

    /// The name to give a command's task: its base name where none is given.
    func name(for command: [String]) -> String {
        if let name { return name }
        let base = command.first?.split(separator: "/").last.map(String.init)
        return base ?? "command"
    }
}
