internal import ArgumentParser

/// The options that every verb has.
struct GlobalOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The daemon's socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Flag(help: "Speak to your own daemon.")
    var user = false

    @Flag(help: "Speak to the system's daemon.")
    var system = false

    @Flag(help: "Answer with one JSON object a line.")
    var json = false

    @Flag(help: "Show what is longer than the screen without a pager.")
    var noPager = false

    func validate() throws {
        if user && system { throw ValidationError("give --user or --system, not both") }
        if socket?.isEmpty == true { throw ValidationError("the path of --socket is empty") }
    }

    /// The socket that these options and the environment choose.
    func socketChoice() throws(Failure) -> SocketChoice {
        try SocketChoice.here(socket: socket, user: user, system: system)
    }
}

/// A verb of the command line that speaks to the daemon.
protocol Verb: ParsableCommand {
    var global: GlobalOptions { get }

    /// The exit status where the daemon refuses or is not there.
    var refusalStatus: Int32 { get }

    /// What it asks for that not everybody may have.
    var privilege: Privilege? { get }

    /// Does what the verb says.
    ///
    /// - Returns: the exit status.
    func perform(_ session: Session) throws(Failure) -> Int32
}

extension Verb {
    var refusalStatus: Int32 { ExitStatus.refused }
    var privilege: Privilege? { nil }

    package func run() throws {
        let console = Console(
            isJSON: global.json, hasPager: !global.noPager, failureStatus: refusalStatus)
        let session = Session(console: console, global: global, privilege: privilege)
        let status: Int32
        do throws(Failure) {
            status = try perform(session)
            session.console.flush()
        } catch {
            session.console.report(error)
            status = error.status ?? refusalStatus
        }
        throw ExitCode(status)
    }
}

/// What a verb works with.
struct Session {
    let console: Console
    let global: GlobalOptions
    let privilege: Privilege?

    func connect() throws(Failure) -> DaemonConnection {
        try DaemonConnection(global.socketChoice(), console, privilege)
    }
}
