internal import Glibc

/// A bgtask-executor that is a child of this process. It ends when this process hangs up, and takes its commands along.
final class ExecutorChild: WatchOwner {
    /// How long it may take for its end, where nothing runs any more or all is killed.
    private static let endMillisecondsMax: Int32 = 5000

    private let program: ExecutorProgram
    private unowned let host: ProcessHost
    private var child: WatchedChild?
    /// How the last one ended.
    private var exit: Exit?

    init(_ program: ExecutorProgram, host: ProcessHost) {
        self.program = program
        self.host = host
    }

    var path: String { program.path }

    /// While it is there.
    var processID: Int32? { child?.processID }

    /// Starts it.
    ///
    /// - Throws: EBUSY where the one before has not ended yet, which is killed.
    func start() throws(SystemError) -> ExecutorConnection {
        if let child {
            child.signal(SIGKILL)
            throw SystemError(operation: "start", errno: EBUSY, subject: path)
        }
        var sockets = try DescriptorPair.sockets(.sequencedPacket, nonBlocking: false)
        let own = sockets.takeFirst()
        let other = sockets.takeSecond()
        // In a session of its own, so that what a terminal sends to this process does not reach it.
        let request = LaunchRequest(
            arguments: program.arguments, directory: "/", searchPath: "", fileModeMask: 0o077)
        let spawned: SpawnedProcess
        do throws(LaunchError) {
            spawned = try spawn(
                request, descriptors: [STDERR_FILENO, STDERR_FILENO, other.rawValue])
        } catch {
            throw SystemError(operation: "start", errno: error.errno, subject: path)
        }
        child = try WatchedChild(spawned, host: host, owner: self, role: 0)
        exit = nil
        return ExecutorConnection(own)
    }

    func ready(role: Int, _ events: inout [ProcessEvent]) {
        if reap() { host.executorEnded() }
    }

    /// - Returns: whether it has ended.
    private func reap() -> Bool {
        guard let exit = child?.reap() else { return false }
        self.exit = exit
        child = nil
        return true
    }

    /// Waits for its end, which comes by itself since nobody is connected any more. One that does not end is killed.
    ///
    /// - Parameter reaps: `false` at this process's own end: whoever reaps it may wait for what others have mounted in its folder
    ///   of /proc.
    func waitForEnd(reaps: Bool = true) {
        for number in [nil, SIGKILL] {
            guard let child else { return }
            if let number { child.signal(number) }
            guard child.wait(milliseconds: Self.endMillisecondsMax) else { continue }
            if reaps { _ = reap() }
            return
        }
    }

    /// Why one is of no use that has hung up, beside what it has said itself on standard error.
    func failure() -> SystemError {
        waitForEnd()
        let words =
            switch exit {
            case .status(let number)?: "it has ended with status \(number)"
            case .signal(let number)?: "it was ended by signal \(number)"
            case nil: "it does not end"
            }
        return SystemError(operation: "start", errno: EPIPE, subject: path, detail: words)
    }
}
