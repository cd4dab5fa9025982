internal import ArgumentParser
internal import TaskAPI
internal import Varlink

/// Looks after applications.
struct App: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Start applications, move them between front and background, and watch them.",
        discussion: """
            An application in front runs freely. One in the background has a limited time, shared by all \
            its tasks, and is frozen when they are done: it is suspended until it is activated.

            Example:

              bgtaskctl app register player --handles didEnterBackground -- ./player
              bgtaskctl app launch player
              bgtaskctl app background player
            """,
        subcommands: [
            Register.self, Launch.self, Adopt.self, Activate.self, Resign.self, Background.self,
            Terminate.self, Unregister.self, List.self, Show.self, History.self, Watch.self,
            Push.self,
            Badge.self, Handles.self, Delivered.self, Explain.self,
        ],
        defaultSubcommand: List.self
    )
}

/// A verb that names one application and has the daemon do one thing with it.
protocol ApplicationOrder: Verb {
    associatedtype Order: Method
    where Order.Input == Applications.Reference, Order.Output == Applications.Answer

    var id: String { get }
}

extension ApplicationOrder {
    func perform(_ session: Session) throws(Failure) -> Int32 {
        var input = Applications.Reference()
        input.id = id
        let application = try session.connect().order(Order.self, input, about: id).application
        session.console.show(application, ApplicationText.sentence(application))
        return 0
    }
}
