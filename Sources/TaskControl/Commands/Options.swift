internal import ArgumentParser
internal import Glibc
internal import Settings
internal import TaskAPI
internal import Varlink

/// The number of a task, as `run` and `begin` print it.
struct TaskNumber {
    let value: Int

    /// Reads it from the command line.
    static func parse(_ text: String) throws -> TaskNumber {
        guard let value = Int(text), value >= 0 else {
            throw ValidationError("a task is named by its number here, as bgtaskctl list shows it")
        }
        return TaskNumber(value: value)
    }
}

/// A length of time on the command line, in the words of systemd.time(7).
package enum SpanOption {
    static let help = "such as 180s, 3min or \"1h 30min\""

    /// How long a task can be held back at most.
    private static let delayMax = TimeSpan.finite(.seconds(366 * 86400))

    /// Milliseconds; longer than any budget can be is cut.
    static func milliseconds(_ text: String) throws -> Int {
        guard let milliseconds = try span(text).milliseconds else {
            throw ValidationError("it has an end; what has none needs --profile unlimited")
        }
        return Int(milliseconds)
    }

    /// Milliseconds for which a task is held back.
    package static func delay(_ text: String) throws -> Int {
        guard let milliseconds = try span(text).milliseconds,
            milliseconds <= delayMax.milliseconds ?? 0
        else { throw ValidationError("a task can be held back for \(delayMax) at most") }
        return Int(milliseconds)
    }

    private static func span(_ text: String) throws -> TimeSpan {
        do throws(TimeSpan.Failure) {
            return try TimeSpan(parsing: text)
        } catch {
            throw ValidationError("\(error); write it \(help)")
        }
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
    @Option(help: ArgumentHelp("The task's name.", valueName: "name"))
    var name: String?

    @Option(
        help: ArgumentHelp(
            "The application that the task belongs to; $BGTASK_APPLICATION if not given.",
            valueName: "id"), completion: .applications)
    var application: String?

    @Option(
        help: ArgumentHelp("A named budget; see bgtaskctl status.", valueName: "name"),
        completion: .profiles)
    var profile: String?

    @Option(
        help: ArgumentHelp("The hard limit, \(SpanOption.help).", valueName: "span"),
        transform: SpanOption.milliseconds)
    var budget: Int?

    @Option(
        help: ArgumentHelp("How long before the limit it is warned.", valueName: "span"),
        transform: SpanOption.milliseconds)
    var grace: Int?

    /// The application that the task belongs to: the one asked for, otherwise the one that bgtaskctl runs in.
    /// An empty one stands for none.
    var owner: String? {
        guard let application else { return Surroundings.value("BGTASK_APPLICATION") }
        return application.isEmpty ? nil : application
    }

    /// The budget to ask for; `nil` for that of the profile.
    ///
    /// Where only the limit or only the grace is given, the profile has the other; its grace is a quarter of the limit
    /// at most.
    func budget(from connection: DaemonConnection) throws(Failure) -> Tasks.Budget? {
        guard budget != nil || grace != nil else { return nil }
        return try budget(
            in: connection.call(Manager.Describe.self, Empty()).profiles)
    }

    /// The same, with the profiles of the daemon.
    func budget(in profiles: [Manager.Profile]) throws(Failure) -> Tasks.Budget {
        let name = profile ?? "default"
        guard let profile = profiles.first(where: { $0.name == name }) else {
            throw Failure("there is no profile \(name); bgtaskctl status names them")
        }
        guard let duration = budget ?? profile.durationMs else {
            throw Failure(
                "profile \(profile.name) has no limit that a grace could precede; give --budget")
        }
        if let longest = profile.lifetimeMaxMs, longest < duration {
            throw Failure(
                "profile \(profile.name) allows \(TimeText.span(longest)) at most; "
                    + BorrowOptions.remedy(for: duration, in: profiles))
        }
        guard duration > 0 else { throw Failure("--budget must be more than 0") }
        var result = Tasks.Budget()
        result.durationMs = duration
        result.graceMs = grace ?? min(profile.graceMs, duration / 4)
        guard result.graceMs < result.durationMs else {
            throw Failure(
                "a grace of \(TimeText.span(result.graceMs)) is not shorter than the budget of "
                    + "\(TimeText.span(result.durationMs)); give a shorter --grace or a longer --budget"
            )
        }
        return result
    }

    /// Names the profile with the smallest limit that allows so much.
    private static func remedy(for duration: Int, in profiles: [Manager.Profile]) -> String {
        let allowing = profiles.filter { $0.lifetimeMaxMs ?? 0 >= duration }
        let least = allowing.min { $0.lifetimeMaxMs ?? 0 < $1.lifetimeMaxMs ?? 0 }
        let longest = profiles.compactMap(\.lifetimeMaxMs).max() ?? 0
        guard let least else {
            let most = "the most that any profile allows is \(TimeText.span(longest))"
            return profiles.contains { $0.durationMs == nil }
                ? "\(most), but for those without a limit (--profile unlimited), which not everybody may have"
                : most
        }
        let most = TimeText.span(least.lifetimeMaxMs ?? 0)
        return "give --profile \(least.name), which allows \(most)"
    }

    /// The name to give a command's task: its base name where none is given.
    func name(for command: [String]) -> String {
        name ?? BorrowOptions.programName(of: command)
    }

    /// What people call a command: the last part of its program's path.
    static func programName(of command: [String]) -> String {
        command.first?.split(separator: "/").last.map(String.init) ?? "command"
    }
}
