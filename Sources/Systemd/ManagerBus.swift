internal import CSystemd
internal import Glibc

/// A conversation with the service manager over its bus that ends in time, whatever the bus does.
///
/// sd_bus_call(3) waits for the connection itself without a limit of ours; so the messages are sent
/// without waiting, and the bus is driven from here until there is an answer or no time is left.
final class ManagerBus {
    private let connection: BusConnection
    /// In ns of CLOCK_MONOTONIC.
    private let deadline: UInt64
    private let limit: Duration
    private var slots: [BusSlot] = []
    /// The job of the call, or why there is none.
    private var job: String?
    private var failure: String?
    /// Results of ended jobs, by their paths.
    private var results: [String: String] = [:]

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
        connection = BusConnection(pointer)
        self.limit = limit
        deadline = EventLoop.monotonicNanoseconds(after: limit)
    }

    /// A call of one of the manager's methods, without its parameters.
    func newCall(_ method: String) throws(SystemdError) -> BusMessage {
        try connection.newCall(
            of: method, at: UnitRequest.managerPath, interface: UnitRequest.managerInterface)
    }

    /// Sends a call that orders a job, and waits for the end of the job.
    ///
    /// - Returns: the job's result, `done` where it worked.
    /// - Throws: ETIMEDOUT where no time is left; the manager's refusal.
    func jobResult(of call: BusMessage) throws(SystemdError) -> String {
        // Before the call, so that the job's end cannot be missed.
        slots.append(try connection.watch("JobRemoved") { [weak self] in self?.jobEnded($0) })
        slots.append(try connection.send(call) { [weak self] in self?.answered($0) })
        while true {
            if let failure {
                throw SystemdError(
                    operation: "StartTransientUnit", errno: EREMOTEIO, subject: failure)
            }
            if let job, let result = results[job] { return result }
            try turn()
        }
    }

    private func jobEnded(_ signal: ReceivedMessage) {
        guard signal.number() != nil, let job = signal.text("o"), signal.text("s") != nil,
            let result = signal.text("s")
        else { return }
        results[job] = result
    }

    private func answered(_ reply: ReceivedMessage) {
        failure = reply.failure?.words
        guard failure == nil else { return }
        job = reply.text("o")
        if job == nil { failure = "the reply names no job" }
    }

    /// Does what the bus has to do, or waits for it.
    private func turn() throws(SystemdError) {
        guard EventLoop.monotonicNanoseconds() < deadline else {
            throw SystemdError(
                operation: "sd_bus_wait", errno: ETIMEDOUT, subject: "no answer within \(limit)")
        }
        if try connection.process() { return }
        try connection.wait(untilNanoseconds: deadline)
    }
}
