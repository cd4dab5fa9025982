internal import ArgumentParser
internal import TaskAPI

extension App {
    /// Starts the registered command.
    struct Launch: ApplicationOrder {
        typealias Order = Applications.Launch

        static let configuration = CommandConfiguration(
            abstract: "Start an application, in front.",
            discussion: """
                It runs the command that it was registered with. Waits until it is in front, or says why it \
                could not be started.

                Example: bgtaskctl app launch player
                """
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @OptionGroup var global: GlobalOptions
    }

    /// Brings an application to the front.
    struct Activate: ApplicationOrder {
        typealias Order = Applications.Activate

        static let configuration = CommandConfiguration(
            abstract: "Bring an application to the front.",
            discussion: """
                It is started or thawed where needed. If the settings let one application be in front at a \
                time, the other one goes to the background. Ends what resign started.

                Example: bgtaskctl app activate player
                """
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @OptionGroup var global: GlobalOptions
    }

    /// Interrupts an application in front.
    struct Resign: ApplicationOrder {
        typealias Order = Applications.Resign

        static let configuration = CommandConfiguration(
            abstract: "Interrupt an application that stays in front.",
            discussion: """
                As a call or a dialogue of the system does: it stays in front and gets no input. Nothing is \
                counted. activate ends it.

                Example: bgtaskctl app resign player
                """
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @OptionGroup var global: GlobalOptions
    }

    /// Sends an application to the background.
    struct Background: ApplicationOrder {
        typealias Order = Applications.EnterBackground

        static let configuration = CommandConfiguration(
            abstract: "Send an application to the background.",
            discussion: """
                Its background time starts, shared by all its tasks. With none it is suspended a few seconds \
                later, otherwise when the last of them has ended.

                Example: bgtaskctl app background player
                """
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @OptionGroup var global: GlobalOptions
    }

    /// Ends an application.
    struct Terminate: ApplicationOrder {
        typealias Order = Applications.Terminate

        static let configuration = CommandConfiguration(
            abstract: "End an application.",
            discussion: """
                It is notified, gets SIGTERM and its grace, and what is left of it is killed; a suspended one is \
                killed at once. Waits until nothing of it is left.

                Example: bgtaskctl app terminate player
                """
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @OptionGroup var global: GlobalOptions
    }

    /// Forgets an application.
    struct Unregister: Verb {
        static let configuration = CommandConfiguration(
            abstract: "Forget an application that is not running.",
            discussion: "Example: bgtaskctl app unregister player"
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @OptionGroup var global: GlobalOptions

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Applications.Reference()
            input.id = id
            let reply = try session.connect().call(Applications.Unregister.self, input)
            session.console.show(
                reply, "\(VisibleText.oneLine(id)) is no longer registered\n")
            return 0
        }
    }

    /// Takes running processes as an application.
    struct Adopt: Verb {
        static let configuration = CommandConfiguration(
            abstract: "Make running processes an application, in front.",
            discussion: """
                They are suspended through the systemd unit that they live in, which must hold no others, \
                be no login session and have no watchdog. An id that is not registered becomes known by \
                this, without a command.

                Example: bgtaskctl app adopt player 4711
                """
        )

        @Argument(help: "The application.", completion: .applications) var id: String

        @Argument(help: ArgumentHelp("The processes.", valueName: "pid")) var pids: [Int32]

        @OptionGroup var global: GlobalOptions

        func validate() throws {
            for pid in pids where pid <= 0 { throw ValidationError("\(pid) is no process") }
        }

        func perform(_ session: Session) throws(Failure) -> Int32 {
            var input = Applications.Adopt.Input()
            input.id = id
            input.pids = pids.map(Int.init)
            let application = try session.connect().order(
                Applications.Adopt.self, input, about: id
            ).application
            session.console.show(application, ApplicationText.sentence(application))
            return 0
        }
    }
}
