internal import Glibc
internal import LinuxSystem
internal import TaskAPI

/// Runs a command on held time: waits for what the daemon, the command and the keyboard do, and performs what
/// `HoldMachine` decides.
struct HoldLoop {
    private var machine: HoldMachine
    private let id: Int
    private let signal: Int32?
    private let events: DaemonConnection
    private let orders: DaemonConnection
    private let console: Console
    private let signals: SignalInbox
    private var isStreaming = true
    private var killAt: ContinuousClock.Instant?

    /// - Parameters:
    ///   - events: where the begin's stream comes.
    ///   - orders: a second connection, since the first is busy with the stream.
    init(
        _ subject: HoldMachine.Subject, events: DaemonConnection, orders: DaemonConnection,
        console: Console, signals: SignalInbox
    ) {
        machine = HoldMachine(subject)
        id = subject.id
        signal = SignalName.number(of: subject.signal)
        self.events = events
        self.orders = orders
        self.console = console
        self.signals = signals
    }

    /// Waits until the command has ended, and gives the time back.
    ///
    /// - Returns: the exit status, and how the command ended.
    mutating func run(_ command: HeldCommand) -> (status: Int32, exit: Tasks.Exit) {
        while true {
            takeEvents(command)
            if let exit = takeSignals(command) {
                perform(machine.handle(.commandExited), command)
                let status = ExitStatus.status(of: exit)
                return (machine.exitStatus(ofCommand: status), exit)
            }
            let watched = [signals.descriptor] + (isStreaming ? [events.descriptor] : [])
            if !Waiting.wait(for: watched, until: killAt) {
                killAt = nil
                perform(machine.handle(.killBecameDue), command)
            }
        }
    }

    /// Takes the replies that have come.
    private mutating func takeEvents(_ command: HeldCommand) {
        do throws(Failure) {
            while isStreaming, let reply = try events.replyIfReady(Tasks.Begin.self) {
                isStreaming = reply.continues
                guard let event = reply.output.event.flatMap(HoldLoop.event) else { continue }
                perform(machine.handle(event), command)
            }
        } catch {
            isStreaming = false
            perform(machine.handle(.connectionLost(error.line)), command)
        }
    }

    private static func event(_ event: Tasks.Event) -> HoldMachine.Event? {
        switch event.kind {
        case .expiring:
            .expired(
                reason: event.reason ?? event.task.reason, leftMs: event.task.remaining?.hardMs)
        case .extended: .extended
        case .ended:
            event.task.outcome.map { .ended($0, reason: event.reason ?? event.task.reason) }
        default: nil
        }
    }

    /// Passes signals on to the command.
    ///
    /// - Returns: how the command ended, if it has.
    private func takeSignals(_ command: HeldCommand) -> Tasks.Exit? {
        while let number = signals.next() {
            guard number == SIGCHLD else {
                command.signal(number)
                continue
            }
            if let exit = command.reap() { return exit }
        }
        return nil
    }

    private mutating func perform(_ actions: [HoldMachine.Action], _ command: HeldCommand) {
        for action in actions {
            switch action {
            case .say(let line): console.notice(line)
            case .signal: if let signal { command.signal(signal) }
            case .kill: command.signal(SIGKILL)
            case .killAfter(let milliseconds):
                killAt = ContinuousClock.now.advanced(by: .milliseconds(milliseconds))
            case .endTask: endTask(command)
            }
        }
    }

    private mutating func endTask(_ command: HeldCommand) {
        var input = Tasks.End.Input()
        input.id = id
        do throws(Failure) {
            let outcome = try orders.call(Tasks.End.self, input).outcome
            perform(machine.handle(.endAnswered(outcome)), command)
        } catch {
            console.notice("task \(id) could not be ended: \(error.line)")
        }
    }
}
