internal import ArgumentParser
internal import TaskAPI

extension Applications.Callback: ExpressibleByArgument {}

extension App {
    /// Makes an application known.
    struct Register: Verb {
        static let configuration = CommandConfiguration(
            abstract: "Make an application known, and what it can be started with.",
            usage: "bgtaskctl app register [<options>] <id> [-- <command> ...]",
            discussion: """
                A command runs in the current directory and without this shell's environment, but for what \
                --env hands over; it finds the id in $BGTASK_APPLICATION. Without one the application can \
                only be adopted. A second registration of an id replaces its settings, not its state.

                Example: bgtaskctl app register player --profile extended -- ./player --quiet
                """
        )

        @Argument(help: "The application.") var id: String

        @Flag(help: "It ends when another would be suspended.")
        var exitsOnSuspend = false

        @Flag(
            help: "It works in the background for good, as a player does, and is never suspended.")
        var backgroundMode = false

        @Option(
            help: ArgumentHelp(
                "The named budget whose numbers are its background time; see bgtaskctl status.",
                valueName: "name"), completion: .profiles)
        var profile: String?

        @Option(
            help: ArgumentHelp(
                "Notify it of this, and of nothing that is not named; may be repeated.",
                valueName: "callback"))
        var handles: [Applications.Callback] = []

        @Option(
            name: .customLong("env"),
            help: ArgumentHelp(
                "Set a variable for the command; NAME alone passes your own.",
                valueName: "name=value"))
        var environment: [String] = []

        @OptionGroup var global: GlobalOptions

        @Argument(parsing: .postTerminator, help: "The command and its arguments.")
        var command: [String] = []

        func validate() throws {
            if command.isEmpty, !environment.isEmpty {
                throw ValidationError("--env is for a <command>, and there is none")
            }
            _ = try EnvironmentOption.variables(environment)
        }

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Applications.Register.Input()
            input.registration = try registration()
            let application = try session.connect().order(
                Applications.Register.self, input, about: id
            ).application
            session.console.show(application, ApplicationText.registered(application))
            return 0
        }

        private func registration() throws(Failure) -> Applications.Registration {
            var registration = Applications.Registration()
            registration.id = id
            registration.exitsOnSuspend = exitsOnSuspend ? true : nil
            registration.backgroundMode = backgroundMode ? true : nil
            registration.profile = profile
            let callbacks = Applications.Callback.allCases.filter(handles.contains)
            registration.handles = callbacks.isEmpty ? nil : callbacks
            guard !command.isEmpty else { return registration }
            registration.command = command
            guard let place = Surroundings.directory else {
                throw Failure("the current directory does not exist any more; change to another")
            }
            registration.directory = place
            do {
                let variables = try EnvironmentOption.variables(environment)
                registration.environment = variables.isEmpty ? nil : variables
            } catch {
                throw Failure("\(error)")
            }
            return registration
        }
    }
}
