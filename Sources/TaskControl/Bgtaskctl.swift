package import ArgumentParser
internal import Glibc
internal import TaskAPI

/// The command line of bgtaskd.
package struct Bgtaskctl: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "bgtaskctl",
        abstract: "Run background work under a time limit, and look after it.",
        discussion: """
            Everywhere, before or after the command: --socket PATH, --user, --system, --json, --no-pager. \
            Without the first three the system's daemon is called if it has a socket, else your own; \
            $BGTASK_SOCKET names another.

            Example: run an upload that may take three minutes and gets SIGTERM five seconds before the end:

              bgtaskctl run --budget 3min --grace 5s --wait -- ./upload photos

            Exit status: 0 done; 1 refused or failed; 64 wrong usage; with run --wait, run --follow, wait \
            and hold that of the command (128+N if signal N ended it), 124 if its time was up, and \
            125 if bgtaskctl or the daemon is the reason.
            """,
        version: Version.current,
        groupedSubcommands: [
            CommandGroup(
                name: "Running",
                subcommands: [
                    Run.self, Restart.self, Hold.self, Begin.self, End.self, Extend.self,
                    Remaining.self, Report.self, Complete.self,
                ]),
            CommandGroup(
                name: "Looking",
                subcommands: [
                    List.self, Top.self, Show.self, Watch.self, Logs.self, Wait.self,
                    Explain.self, History.self, Timeline.self,
                ]),
            CommandGroup(
                name: "Intervening",
                subcommands: [
                    Cancel.self, Edit.self, Pause.self, Resume.self, Clean.self, Group.self,
                    Slots.self,
                    SimulateExpiration.self, SimulateLaunch.self, SimulateMemoryPressure.self,
                ]),
            CommandGroup(name: "Applications", subcommands: [App.self]),
            CommandGroup(
                name: "Daemon",
                subcommands: [
                    Status.self, Stats.self, Introspect.self, Reload.self,
                ]),
        ]
    )

    /// The names of all verbs.
    static var verbs: [String] {
        configuration.groupedSubcommands.flatMap(\.subcommands).map { $0._commandName }
    }

    package init() {}

    /// Does what the process's arguments say, and ends it.
    package static func main() {
        Surroundings.fillStandardDescriptors()
        let given = Array(CommandLine.arguments.dropFirst())
        let arguments = ArgumentOrder.verbFirst(given)
        let console = Console(isJSON: ArgumentOrder.askForJSON(given))
        if let number = Surroundings.argumentThatIsNoText {
            // It would be another word: what is no UTF-8 would be replaced.
            console.notice(
                "argument \(number) (\(given[number - 1])) is not UTF-8, and bgtaskd takes nothing else"
            )
            Glibc.exit(ExitStatus.usage)
        }
        // ArgumentParser would show the help of all verbs.
        if arguments.first == "help", arguments.count > 1, !arguments[1].hasPrefix("-"),
            let unknown = UsageText.unknownVerb(arguments[1])
        {
            console.notice(unknown)
            Glibc.exit(ExitStatus.usage)
        }
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch {
            leave(after: error, arguments, console)
        }
    }

    /// Ends the process: with the status that a verb asks for, after a help text, or with one line on what is
    /// wrong with the arguments.
    private static func leave(
        after error: any Error, _ arguments: [String], _ console: Console
    ) -> Never {
        if let status = error as? ExitCode { Glibc.exit(status.rawValue) }
        let status = exitCode(for: error)
        if status == .success {
            console.write(fullMessage(for: error) + "\n")
            console.flush()
        } else {
            let message = message(for: error)
            let verb = UsageText.verb(of: arguments, refusedWith: message)
            console.notice(UsageText.line(message, verb: verb))
        }
        Glibc.exit(status.rawValue)
    }
}
