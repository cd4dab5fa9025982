internal import BudgetCore
internal import LinuxSystem

/// Reads one condition where that may take its time: made, used and given up on a thread.
protocol ConditionProbe: AnyObject {
    /// Readable when there is something to read; `nil` where nothing tells.
    var descriptor: Int32? { get }
    /// After so long it is read anew also where nothing tells.
    var interval: Duration? { get }

    /// - Returns: `nil` where it is not known yet.
    func read() throws(SystemError) -> ConditionReading?
}

/// Follows a condition on a thread of its own while it is wanted: the kernel may let a reading wait for a
/// driver, or for whoever changes the network's set-up.
///
/// There is one thread at most. One that is held up when the condition is not wanted any more ends after
/// that; where the condition is wanted again by then, it reads all anew instead.
final class SensorThread: Sendable {
    /// A reading; or why there will be none, with which the thread has ended.
    typealias Answer = Result<ConditionReading, SystemError>
    typealias Make = @Sendable () throws(SystemError) -> any ConditionProbe

    private struct Shared {
        /// The number of the order that is in force; `nil` where nothing is wanted.
        var order: UInt64?
        var orderLast: UInt64 = 0
        var isRunning = false
        var answer: Answer?
    }

    private let make: Make
    private let shared = LockedState(Shared())
    /// Readable when the order has changed.
    private let request: OwnedDescriptor
    private let answer: OwnedDescriptor

    /// Readable when an answer waits.
    var descriptor: Int32 { answer.rawValue }

    /// - Parameter make: makes what reads the condition, on the thread.
    init(_ make: @escaping Make) throws(SystemError) {
        self.make = make
        request = try .event()
        answer = try .event()
    }

    /// Follows the condition from now on, with nothing known of it.
    func start() throws(SystemError) {
        let isRunning = shared.withLock { state in
            defer { state.isRunning = true }
            state.orderLast += 1
            state.order = state.orderLast
            state.answer = nil
            return state.isRunning
        }
        if isRunning { return request.countEvent() }
        do throws(SystemError) {
            try startThread { [self] in serve() }
        } catch {
            shared.withLock { ($0.order, $0.isRunning) = (nil, false) }
            throw error
        }
    }

    /// Ends that; does not wait.
    func stop() {
        shared.withLock { ($0.order, $0.answer) = (nil, nil) }
        request.countEvent()
    }

    /// The last answer since the last call.
    func takeAnswer() -> Answer? {
        answer.takeEvents()
        return shared.withLock { state in
            defer { state.answer = nil }
            return state.answer
        }
    }

    private func serve() {
        while let order = nextOrder() {
            do throws(SystemError) {
                try follow(order)
            } catch {
                shared.withLock { state in
                    guard state.order == order else { return }
                    state.order = nil
                    state.answer = .failure(error)
                }
                answer.countEvent()
            }
        }
    }

    /// The order in force; without one the thread is as good as ended.
    private func nextOrder() -> UInt64? {
        request.takeEvents()
        return shared.withLock { state in
            if state.order == nil { state.isRunning = false }
            return state.order
        }
    }

    private func follow(_ order: UInt64) throws(SystemError) {
        let probe = try make()
        let milliseconds = probe.interval.map { Int32(clamping: $0.wholeMilliseconds) } ?? -1
        var told: ConditionReading?
        while isInForce(order) {
            let reading = try probe.read()
            if let reading, reading != told {
                told = reading
                tell(reading, order)
            }
            try request.waitReadable(or: probe.descriptor, milliseconds: milliseconds)
            request.takeEvents()
        }
    }

    private func isInForce(_ order: UInt64) -> Bool {
        shared.withLock { $0.order == order }
    }

    private func tell(_ reading: ConditionReading, _ order: UInt64) {
        shared.withLock { state in
            if state.order == order { state.answer = .success(reading) }
        }
        answer.countEvent()
    }
}
