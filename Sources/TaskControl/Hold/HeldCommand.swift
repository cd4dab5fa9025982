internal import Glibc
internal import LinuxSystem
internal import TaskAPI

/// A command that runs as our own child, in a process group of its own, with our own standard input and output.
final class HeldCommand {
    private let process: pid_t
    private var terminal: JobTerminal?

    /// Starts a command; the first word is searched for in `PATH`.
    ///
    /// - Parameters:
    ///   - variables: added to this process's environment.
    ///   - defaults: signals that this process ignores and the command is not to.
    init(_ command: [String], variables: [String: String], defaults: [Int32]) throws(Failure) {
        var child = ChildCommand(words: command)
        child.variables = variables
        child.defaults = defaults
        child.hasOwnGroup = true
        process = try child.start()
        terminal = JobTerminal()
        terminal?.handOver(to: process)
    }

    /// Sends a signal to every process of the command's group.
    func signal(_ number: Int32) {
        kill(-process, number)
        // The stopped act on SIGKILL alone; whoever is told that its time is up has to be able to hear it.
        if number != SIGKILL { kill(-process, SIGCONT) }
    }

    /// Takes note of what happened to the command; where it was stopped from the keyboard, this process stops too.
    ///
    /// - Returns: how it ended; `nil` while it has not.
    func reap() -> Tasks.Exit? {
        var status: Int32 = 0
        while waitpid(process, &status, WNOHANG | WUNTRACED) == process {
            guard status & 0xFF != 0x7F else {
                terminal?.stopTogether(with: process, by: status >> 8 & 0xFF)
                continue
            }
            terminal?.takeBack()
            var exit = Tasks.Exit()
            let number = status & 0x7F
            if number == 0 {
                exit.status = Int(status >> 8 & 0xFF)
            } else {
                exit.signal = SignalName.name(of: number)
            }
            return exit
        }
        return nil
    }

    /// Whether Ctrl-C reached the command alone and not this process's group, whose turn it is then.
    func hidesInterrupt(_ exit: Tasks.Exit) -> Bool {
        exit.signal == "SIGINT" && terminal?.wasHandedOver == true
    }
}
