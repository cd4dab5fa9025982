internal import Glibc

/// Orders about units to a service manager, which never hold up the loop.
///
/// Connects at a call and lets go after the last answer: a manager tells whoever is connected to its own
/// socket of every change of every unit, and an idle daemon must not be woken by that.
///
/// Completions are called from the loop, each once, and may call further methods; after the loop's end they
/// are called at once, with the error. An order whose answer did not come in time may still be carried out
/// later: ask with ``describe(unit:completion:)``, or take it back.
package final class UnitManager {
    /// Whose service manager is asked.
    package enum Manager: Sendable {
        /// The system's. Anyone but root reaches it over the system's bus, whose policy refuses most.
        case system
        /// That of the user whom this process runs as.
        case user
    }

    private let loop: EventLoop
    private let address: ManagerAddress
    private let limit: Duration
    private var conversation: UnitConversation?
    private var descriptor: DescriptorSource?
    private var timer: TimerSource?

    /// - Parameter limit: what a manager that does not answer costs each call.
    package convenience init(
        _ manager: Manager, loop: EventLoop, limit: Duration = .seconds(5)
    ) {
        self.init(at: ManagerAddress(of: manager), loop: loop, limit: limit)
    }

    package init(at address: ManagerAddress, loop: EventLoop, limit: Duration) {
        self.loop = loop
        self.address = address
        self.limit = limit
    }

    deinit {
        close()
    }

    /// Stops all processes of a unit (FreezeUnit); answered when they stand still.
    ///
    /// Refused for units without processes, for those that start or stop, and for kinds that cannot.
    package func freeze(
        unit: String, completion: @escaping (Result<Void, UnitFailure>) -> Void
    ) {
        begin { $0.order(.freeze(unit), by: $1, completion: completion) }
    }

    /// Lets them go on (ThawUnit); a unit that is not frozen, or is there no more, is a success.
    package func thaw(
        unit: String, completion: @escaping (Result<Void, UnitFailure>) -> Void
    ) {
        begin { $0.thaw(unit, by: $1, completion: completion) }
    }

    /// Sends a signal to all processes of a unit (KillUnit).
    package func kill(
        unit: String, signal: Int32, completion: @escaping (Result<Void, UnitFailure>) -> Void
    ) {
        begin { $0.order(.kill(unit, signal: signal), by: $1, completion: completion) }
    }

    /// Asks for what must be known before a unit may be frozen.
    package func describe(
        unit: String, completion: @escaping (Result<UnitDescription, UnitFailure>) -> Void
    ) {
        begin { $0.describe(unit, by: $1, completion: completion) }
    }

    /// Asks what job the unit of this process has.
    ///
    /// - Parameter completion: gets the job's type, such as `stop` and `restart`, or `nil` where there is no job.
    package func ownJobType(
        completion: @escaping (Result<String?, UnitFailure>) -> Void
    ) {
        begin { $0.jobType(ofProcess: UInt32(getpid()), by: $1, completion: completion) }
    }

    /// Ends all open calls with ECANCELED, before it returns and without waiting.
    ///
    /// A later call connects again.
    package func close() {
        let conversation = self.conversation
        forget()
        conversation?.close(SystemdError(operation: "close", errno: ECANCELED))
    }

    /// Thaws units without a loop, for a start after a crash.
    ///
    /// - Parameter limit: for all of them together; a manager that does not answer costs no more.
    /// - Returns: what went wrong, none for a unit that is not frozen.
    package static func thaw(
        _ units: [String], of manager: Manager, within limit: Duration
    ) -> [UnitFailure] {
        thaw(units, at: ManagerAddress(of: manager), within: limit)
    }

    package static func thaw(
        _ units: [String], at address: ManagerAddress, within limit: Duration
    ) -> [UnitFailure] {
        let conversation = UnitConversation(with: address, limit: limit)
        let deadline = EventLoop.monotonicNanoseconds(after: limit)
        var failures: [UnitFailure] = []
        for unit in units {
            conversation.thaw(unit, by: deadline) { result in
                if case .failure(let failure) = result { failures.append(failure) }
            }
        }
        while !conversation.isIdle {
            conversation.wait()
            conversation.turn()
        }
        return failures
    }

    // MARK: - The conversation in the loop

    /// Makes a call, with its deadline, in the present conversation or in a new one.
    private func begin(_ call: (UnitConversation, UInt64) -> Void) {
        if let conversation, conversation.isLost, conversation.isIdle { forget() }
        let conversation =
            self.conversation ?? UnitConversation(with: address, limit: limit)
        self.conversation = conversation
        call(conversation, EventLoop.monotonicNanoseconds(after: limit))
        arm(conversation)
    }

    private func turn() {
        guard let conversation else { return }
        conversation.turn()
        guard self.conversation === conversation else {
            // A completion has closed it, or begun another in place of a lost one; what a second step of
            // its own left behind is told here.
            return conversation.close(SystemdError(operation: "close", errno: ECANCELED))
        }
        if conversation.isIdle { forget() } else { arm(conversation) }
    }

    /// Has the loop come back when there is something to do.
    private func arm(_ conversation: UnitConversation) {
        do throws(SystemdError) {
            try watch(conversation)
            if timer == nil {
                timer = try loop.addTimer(priority: .clients) { [weak self] in self?.turn() }
            }
            try timer?.arm(atNanoseconds: conversation.instant)
        } catch {
            // The loop has ended: nobody would call the completions later.
            forget()
            conversation.close(error)
        }
    }

    private func watch(_ conversation: UnitConversation) throws(SystemdError) {
        guard !conversation.isLost, let connection = conversation.connection else {
            // A connection that hung up would wake the loop for ever.
            descriptor?.remove()
            descriptor = nil
            return
        }
        if let descriptor { return try descriptor.watch(for: connection.events) }
        // With the clients and not before them, so that a manager that floods us delays nobody more than they do.
        descriptor = try loop.addDescriptor(
            connection.descriptor, events: connection.events, priority: .clients
        ) { [weak self] _ in self?.turn() }
    }

    private func forget() {
        descriptor?.remove()
        descriptor = nil
        timer?.remove()
        timer = nil
        conversation = nil
    }
}
