internal import Glibc

/// Calls about units to one service manager, each answered or given up by its deadline.
///
/// Waits in ``wait()`` alone: its holder calls ``turn()`` whenever ``connection`` or ``instant`` say so. No
/// completion is called from inside libsystemd, nor from the call that it belongs to.
final class UnitConversation {
    typealias Completion = (Result<BusValue, UnitFailure>) -> Void

    /// `nil` where the manager could not be reached. A lost one stays, so that no loop watches a descriptor
    /// that is closed.
    let connection: BusConnection?
    /// Why no further call can be made.
    private var loss: SystemdError?
    private let limit: Duration
    private var count = 0
    /// What waits for an answer, by its number.
    private var calls: [Int: Call] = [:]
    /// What ended, and was not told yet.
    private var ended: [End] = []
    /// What this turn tells, the last first.
    private var telling: [End] = []
    /// No open call's deadline is before it; in ns of CLOCK_MONOTONIC.
    private var firstDeadline = UInt64.max

    private struct Call {
        let request: UnitRequest
        let deadline: UInt64
        let completion: Completion
        /// `nil` where the call was never sent.
        var slot: BusSlot?
    }

    private typealias End = (call: Call, result: Result<BusValue, UnitFailure>)

    /// What one turn handles at most, so that a manager that says much holds up nobody else.
    private static let messagesPerTurn = 16

    /// - Parameter limit: how long a call is waited for, in the words of its failure.
    init(with address: ManagerAddress, limit: Duration) {
        self.limit = limit
        do throws(SystemdError) {
            connection = try address.connect()
        } catch {
            connection = nil
            loss = error
        }
    }

    /// Whether the connection is gone.
    var isLost: Bool { loss != nil }

    /// Whether no call is open, and all others were told or are being told.
    var isIdle: Bool { calls.isEmpty && ended.isEmpty }

    /// When the next ``turn()`` is due at the latest; in ns of CLOCK_MONOTONIC.
    var instant: UInt64 {
        guard ended.isEmpty else { return 0 }
        return isLost ? UInt64.max : min(firstDeadline, connection?.instant ?? UInt64.max)
    }

    /// Sends `request`; a later turn gives `completion` the first value of the answer.
    ///
    /// - Parameter deadline: in ns of CLOCK_MONOTONIC.
    func call(
        _ request: UnitRequest, by deadline: UInt64, completion: @escaping Completion
    ) {
        count += 1
        let number = count
        var call = Call(request: request, deadline: deadline, completion: completion)
        guard request.hasName else {
            let failure = UnitFailure(request, EINVAL, "this cannot be the name of a unit")
            return ended.append((call, .failure(failure)))
        }
        do throws(SystemdError) {
            if let loss { throw loss }
            guard let connection else { throw SystemdError(operation: "connect", errno: ENOTCONN) }
            let message = try request.message(on: connection)
            call.slot = try connection.send(message) { [weak self] in
                self?.receive($0, for: number)
            }
        } catch {
            return ended.append((call, .failure(UnitFailure(request, error))))
        }
        calls[number] = call
        firstDeadline = min(firstDeadline, deadline)
    }

    /// Does what there is to do, and tells what ended.
    func turn() {
        process()
        if firstDeadline <= EventLoop.monotonicNanoseconds() { expire() }
        // What a completion brings has its turn after this one.
        tell()
    }

    /// Waits until the next turn has something to do.
    func wait() {
        guard ended.isEmpty, !isLost, let connection else { return }
        do throws(SystemdError) {
            try connection.wait(untilNanoseconds: instant)
        } catch {
            lose(error)
        }
    }

    /// Fails all open calls with `error`, and tells them so before it returns.
    func close(_ error: SystemdError) {
        lose(error)
        tell()
        while !isIdle { tell() }
    }

    private func tell() {
        telling = ended.reversed() + telling
        ended = []
        while let (call, result) = telling.popLast() { call.completion(result) }
    }

    private func lose(_ error: SystemdError) {
        loss = loss ?? error
        firstDeadline = UInt64.max
        for number in calls.keys.sorted() {
            guard let request = calls[number]?.request else { continue }
            end(number, .failure(UnitFailure(request, error)))
        }
    }

    private func process() {
        guard !isLost, let connection else { return }
        do throws(SystemdError) {
            for _ in 0..<Self.messagesPerTurn {
                guard try connection.process() else { break }
                // What libsystemd would answer now in the manager's place says less.
                guard connection.isOpen else {
                    throw SystemdError(operation: "sd_bus_process", errno: ECONNRESET)
                }
            }
        } catch {
            lose(error)
        }
    }

    private func receive(_ reply: ReceivedMessage, for number: Int) {
        guard connection?.isOpen == true, let request = calls[number]?.request else { return }
        if let refusal = reply.failure {
            end(number, .failure(UnitFailure(request, refusal)))
        } else if let value = reply.value() {
            end(number, .success(value))
        } else {
            end(number, .failure(UnitFailure(unreadable: request)))
        }
    }

    /// Gives up the calls whose time is over.
    private func expire() {
        let now = EventLoop.monotonicNanoseconds()
        let numbers = calls.filter { $0.value.deadline <= now }.keys.sorted()
        for number in numbers {
            guard let request = calls[number]?.request else { continue }
            let reason = "the service manager did not answer within \(limit)"
            end(number, .failure(UnitFailure(request, ETIMEDOUT, reason)))
        }
        // Who has not been let in yet would wait as long with the next call.
        if let connection, !numbers.isEmpty, !connection.isReady {
            return lose(SystemdError(operation: "sd_bus_start", errno: ETIMEDOUT))
        }
        firstDeadline = calls.values.map(\.deadline).min() ?? UInt64.max
    }

    private func end(_ number: Int, _ result: Result<BusValue, UnitFailure>) {
        guard let call = calls.removeValue(forKey: number) else { return }
        ended.append((call, result))
    }
}
