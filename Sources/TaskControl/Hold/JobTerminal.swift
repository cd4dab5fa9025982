internal import Glibc

/// The terminal on standard input, which the command's process group has while this process's has it.
///
/// Without it a command that reads from the terminal would be stopped as a job in the background, and Ctrl-Z would
/// leave this process, and so the shell, waiting for what is stopped.
final class JobTerminal {
    private static let descriptor = STDIN_FILENO
    private(set) var wasHandedOver = false

    /// `nil` where standard input is no terminal.
    init?() {
        guard isatty(JobTerminal.descriptor) == 1 else { return nil }
    }

    /// Gives the terminal to a process group, where this process's group has it.
    func handOver(to group: pid_t) {
        guard isOurs else { return }
        _ = setGroup(group)
        wasHandedOver = true
        // It may have been stopped in the moment before it had the terminal.
        kill(-group, SIGCONT)
    }

    /// Takes the terminal back, if it was given away.
    func takeBack() {
        guard wasHandedOver else { return }
        _ = setGroup(getpgrp())
    }

    /// Stops this process's group as the command's was, and goes on together with it.
    func stopTogether(with group: pid_t, by number: Int32) {
        let wantsTerminal = number == SIGTTIN || number == SIGTTOU
        if !(wantsTerminal && isOurs) {
            takeBack()
            kill(0, SIGTSTP)
        }
        handOver(to: group)
        kill(-group, SIGCONT)
    }

    private var isOurs: Bool { tcgetpgrp(JobTerminal.descriptor) == getpgrp() }

    /// SIGTTOU would stop a process in the background that does this (tcsetpgrp(3)).
    private func setGroup(_ group: pid_t) -> Bool {
        var set = sigset_t()
        var before = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGTTOU)
        sigprocmask(SIG_BLOCK, &set, &before)
        defer { sigprocmask(SIG_SETMASK, &before, nil) }
        return tcsetpgrp(JobTerminal.descriptor, group) == 0
    }
}
