internal import CSystemd
internal import Glibc

/// A conversation with the service manager over its bus that ends in time, whatever the bus does.
///
/// sd_bus_call(3) waits for the connection itself without a limit of ours; so the messages are sent
/// without waiting, and the bus is driven from here until there is an answer or no time is left.
final class ManagerBus {
    private let bus: OpaquePointer
    /// In ns of CLOCK_MONOTONIC.
    private let deadline: UInt64
    private let limit: Duration
    /// Keeps what the callbacks write; libsystemd knows it by address.
    private let answers = Answers()
    private var slots: [OpaquePointer?] = []

    /// What came from the manager.
    private final class Answers {
        /// The job of the call, or why there is none.
        var job: String?
        var failure: String?
        /// Results of ended jobs, by their paths.
        var results: [String: String] = [:]
    }

    private static let service = "org.freedesktop.systemd1"
    private static let path = "/org/freedesktop/systemd1"
    private static let interface = "org.freedesktop.systemd1.Manager"

    /// Begins to connect; the answer to the first call shows whether it worked.
    ///
    /// - Throws: ``SystemdError`` as of sd_bus_open_user(3): ENOENT and ENOMEDIUM where there is no bus.
    init(_ manager: DelegatedScope.Manager, within limit: Duration) throws(SystemdError) {
        var pointer: OpaquePointer?
        switch manager {
        case .system:
            try SystemdError.check(sd_bus_open_system(&pointer), "sd_bus_open_system")
        case .user:
            try SystemdError.check(sd_bus_open_user(&pointer), "sd_bus_open_user")
        }
        guard let pointer else {
            throw SystemdError(operation: "sd_bus_open", errno: ENOMEM)
        }
        bus = pointer
        self.limit = limit
        let (seconds, attoseconds) = limit.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        deadline = EventLoop.monotonicNanoseconds() + UInt64(clamping: nanoseconds)
    }

    deinit {
        for slot in slots { sd_bus_slot_unref(slot) }
        // Without sd_bus_flush(3), which may wait.
        sd_bus_close_unref(bus)
    }

    /// A call of one of the manager's methods, without its parameters.
    func newCall(_ method: String) throws(SystemdError) -> BusMessage {
        var message: OpaquePointer?
        try SystemdError.check(
            sd_bus_message_new_method_call(
                bus, &message, Self.service, Self.path, Self.interface, method),
            "sd_bus_message_new_method_call")
        guard let message else {
            throw SystemdError(operation: "sd_bus_message_new_method_call", errno: ENOMEM)
        }
        return BusMessage(message)
    }

    /// Sends a call that orders a job, and waits for the end of the job.
    ///
    /// - Returns: the job's result, `done` where it worked.
    /// - Throws: ETIMEDOUT where no time is left; the manager's refusal.
    func jobResult(of call: BusMessage) throws(SystemdError) -> String {
        // Before the call, so that the job's end cannot be missed.
        try watchJobs()
        try send(call)
        while true {
            if let failure = answers.failure {
                throw SystemdError(
                    operation: "StartTransientUnit", errno: EREMOTEIO, subject: failure)
            }
            if let job = answers.job, let result = answers.results[job] { return result }
            try turn()
        }
    }

    private func watchJobs() throws(SystemdError) {
        var slot: OpaquePointer?
        try SystemdError.check(
            sd_bus_match_signal_async(
                bus, &slot, Self.service, Self.path, Self.interface, "JobRemoved",
                { message, userData, _ in
                    guard let message, let answers = ManagerBus.answers(userData) else { return 0 }
                    let signal = ReceivedMessage(pointer: message)
                    guard signal.number() != nil, let job = signal.text("o"),
                        signal.text("s") != nil, let result = signal.text("s")
                    else { return 0 }
                    answers.results[job] = result
                    return 0
                },
                nil, Unmanaged.passUnretained(answers).toOpaque()),
            "sd_bus_match_signal_async")
        slots.append(slot)
    }

    private func send(_ call: BusMessage) throws(SystemdError) {
        var slot: OpaquePointer?
        try SystemdError.check(
            sd_bus_call_async(
                bus, &slot, call.pointer,
                { message, userData, _ in
                    guard let message, let answers = ManagerBus.answers(userData) else { return 0 }
                    let reply = ReceivedMessage(pointer: message)
                    answers.failure = reply.failure
                    if reply.failure == nil { answers.job = reply.text("o") }
                    if answers.failure == nil, answers.job == nil {
                        answers.failure = "the reply names no job"
                    }
                    return 0
                },
                Unmanaged.passUnretained(answers).toOpaque(), UInt64.max),
            "sd_bus_call_async")
        slots.append(slot)
    }

    /// Does what the bus has to do, or waits for it.
    private func turn() throws(SystemdError) {
        let now = EventLoop.monotonicNanoseconds()
        guard now < deadline else {
            throw SystemdError(
                operation: "sd_bus_wait", errno: ETIMEDOUT, subject: "no answer within \(limit)")
        }
        if try SystemdError.check(sd_bus_process(bus, nil), "sd_bus_process") > 0 { return }
        let waited = sd_bus_wait(bus, (deadline - now) / 1_000 + 1)
        if waited != -EINTR { try SystemdError.check(waited, "sd_bus_wait") }
    }

    private static func answers(_ userData: UnsafeMutableRawPointer?) -> Answers? {
        userData.map { Unmanaged<Answers>.fromOpaque($0).takeUnretainedValue() }
    }
}
