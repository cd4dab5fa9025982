internal import Glibc

/// The end of the pipe that the signal handler writes to: global, because a handler can reach nothing else. It is set
/// once, before the first handler is installed.
private nonisolated(unsafe) var inboxWriteEnd: Int32 = -1

/// The terminal that a signal that ends this process has take text again; set as the other, -1 for none.
private nonisolated(unsafe) var inboxTerminal: Int32 = -1

/// Has this process get on that writes to a terminal which takes nothing, stopped by Ctrl-S or with nobody who reads it:
/// what it has not taken yet is dropped where it still takes nothing. In a handler of a signal: it takes no memory.
private func freeTerminal(for number: Int32) {
    switch number {
    case SIGINT, SIGTERM, SIGHUP, SIGQUIT: break
    default: return
    }
    // Another job's terminal is left alone; a job in the background would be stopped for it.
    guard inboxTerminal >= 0, tcgetpgrp(inboxTerminal) == getpgrp() else { return }
    // TCOON alone undoes what TCOOFF did, and no Ctrl-S.
    tcflow(inboxTerminal, TCOOFF)
    tcflow(inboxTerminal, TCOON)
    var request = pollfd(fd: inboxTerminal, events: Int16(POLLOUT), revents: 0)
    if poll(&request, 1, 0) == 0 { tcflush(inboxTerminal, TCOFLUSH) }
}

/// Turns signals into something that can be waited for together with a connection (the self-pipe).
final class SignalInbox {
    /// Readable when a signal has come.
    let descriptor: Int32

    /// Takes signals from here on; those that this process was started to ignore stay ignored (nohup(1), a job
    /// in the background).
    ///
    /// One process has one inbox.
    ///
    /// - Parameter terminal: one that this process writes to, which is not to keep it from ending.
    init(_ signals: [Int32], terminal: Int32 = -1) throws(Failure) {
        precondition(inboxWriteEnd == -1, "a second inbox")
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure("cannot make a pipe: \(ErrorText.of(errno))") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        descriptor = ends[0]
        inboxWriteEnd = ends[1]
        inboxTerminal = terminal
        for number in signals where number == SIGCHLD || !SignalInbox.isIgnored(number) {
            SignalInbox.take(number)
        }
        SignalInbox.unblock(signals)
    }

    /// The next signal that has come; `nil` where none has.
    func next() -> Int32? {
        var byte: UInt8 = 0
        return read(descriptor, &byte, 1) == 1 ? Int32(byte) : nil
    }

    /// Stops this process as a signal does that is not taken, and takes it again when somebody has had it go on.
    func stop(by number: Int32) {
        signal(number, SIG_DFL)
        raise(number)
        SignalInbox.take(number)
    }

    /// Ends this process by a signal, as if it had never been taken: a shell sees 128+N, and stops a script.
    static func die(of number: Int32) -> Never {
        signal(number, SIG_DFL)
        unblock([number])
        raise(number)
        exit(128 + number)
    }

    /// Lets signals come that whoever started this process had held back.
    private static func unblock(_ signals: [Int32]) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in signals { sigaddset(&set, number) }
        sigprocmask(SIG_UNBLOCK, &set, nil)
    }

    private static func take(_ number: Int32) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { number in
            let before = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(inboxWriteEnd, &byte, 1)
            freeTerminal(for: number)
            errno = before
        }
        action.sa_flags = SA_RESTART
        sigaction(number, &action, nil)
    }

    /// Whether this process ignores a signal.
    static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
