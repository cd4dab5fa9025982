internal import Synchronization
package import TaskAPI

/// A task under a time limit, for as long as its work runs; see ``withBackgroundTask(named:budget:grace:profile:application:socket:withoutDaemon:_:)``.
public final class BackgroundTask: Sendable {
    /// What happens to a task.
    public enum Event: Equatable, Sendable {
        /// Its time is nearly over, and the grace has begun; why, where it is not the budget.
        case expiring(reason: String?)
        /// Its budget began anew.
        case extended
        /// It has ended in this way, such as `overrun`; or the daemon has gone, and no time is promised any more.
        case ended(outcome: String?)
    }

    /// What time a task has left; `nil` where there is no limit.
    public struct Remaining: Equatable, Sendable {
        /// Until it is told that its time is nearly over.
        public let untilExpiration: Duration?
        /// Until its time is over.
        public let untilLimit: Duration?
    }

    private struct State {
        var id: Int?
        var isExpired = false
        var outcome: String?
        var hasEnded = false
        /// Has the work cancelled.
        var cancel: (@Sendable () -> Void)?
        /// Is told when its time has changed, or it has ended.
        var tell: (@Sendable () -> Void)?
    }

    /// The name that it was begun with.
    public let name: String
    /// What happens to it, for one reader: it ends with the task.
    public let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let state = Mutex(State())
    private let holder: Holder

    init(_ name: String, of holder: Holder) {
        self.name = name
        self.holder = holder
        (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    deinit { continuation.finish() }

    /// Its number, which bgtaskctl(1) shows; `nil` where there is no daemon.
    public var id: Int? { state.withLock { $0.id } }

    /// Whether its time is nearly over, or was.
    public var isExpired: Bool { state.withLock { $0.isExpired } }

    /// How it has ended, once that is known.
    var outcome: String? { state.withLock { $0.outcome } }

    /// Begins its budget anew, cut to what the profile's lifetime limit leaves.
    ///
    /// - Throws: ``BackgroundTimeError``.
    @discardableResult
    public func extend() async throws -> Remaining {
        var input = Tasks.Extend.Input()
        input.id = try number()
        let remaining = try await holder.call(Tasks.Extend.self, input).remaining
        state.withLock { $0.isExpired = false }
        return Remaining(remaining)
    }

    /// What time it has left; no limit where there is no daemon.
    ///
    /// - Throws: ``BackgroundTimeError``.
    public func remaining() async throws -> Remaining {
        guard let id else { return Remaining(untilExpiration: nil, untilLimit: nil) }
        var input = Tasks.RemainingTime.Input()
        input.id = id
        return Remaining(try await holder.call(Tasks.RemainingTime.self, input).remaining)
    }

    /// Says how far it has come, for those who look at it: `bgtaskctl list` shows a bar, and the text. What is left out
    /// stays as it was. Without a daemon nobody looks.
    ///
    /// - Throws: ``BackgroundTimeError``.
    public func report(
        _ text: String? = nil, completed: Int? = nil, total: Int? = nil
    ) async throws {
        guard let id else { return }
        var input = Tasks.Report.Input()
        (input.id, input.text, input.completed, input.total) = (id, text, completed, total)
        _ = try await holder.call(Tasks.Report.self, input)
    }

    /// Whether its time is over, though its work may go on.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Has somebody told when its budget begins anew, and when it ends other than by its work.
    package func onChange(_ tell: @escaping @Sendable () -> Void) {
        state.withLock { $0.tell = tell }
    }

    private func number() throws(BackgroundTimeError) -> Int {
        guard let id else { throw .noTask }
        return id
    }

    // MARK: - What its holder says

    package func begun(as id: Int) { state.withLock { $0.id = id } }

    /// Has the work cancelled when the time is nearly over, which it may be already.
    func onExpiration(_ cancel: @escaping @Sendable () -> Void) {
        let isExpired = state.withLock { state in
            state.cancel = cancel
            return state.isExpired
        }
        if isExpired { cancel() }
    }

    package func take(_ event: Tasks.Event) {
        switch event.kind {
        case .expiring: expire(.expiring(reason: event.reason))
        case .extended:
            continuation.yield(.extended)
            state.withLock { $0.tell }?()
        case .ended:
            state.withLock { $0.outcome = event.task.outcome?.rawValue }
            expire(.ended(outcome: event.task.outcome?.rawValue))
        default: break
        }
    }

    /// The daemon has gone.
    package func lost() { expire(.ended(outcome: nil)) }

    private func expire(_ event: Event) {
        let cancel = state.withLock { state in
            guard !state.hasEnded else { return (@Sendable () -> Void)?.none }
            if case .ended = event { state.hasEnded = true }
            state.isExpired = true
            return state.cancel
        }
        continuation.yield(event)
        if case .ended = event {
            continuation.finish()
            state.withLock { $0.tell }?()
        }
        cancel?()
    }

    /// Its work is over.
    func end(_ outcome: String?) {
        state.withLock { state in
            state.hasEnded = true
            (state.cancel, state.tell) = (nil, nil)
            state.outcome = outcome ?? state.outcome
        }
        continuation.finish()
    }
}

extension BackgroundTask: HeldTask {}

extension BackgroundTask.Remaining {
    init(_ remaining: Tasks.Remaining) {
        self.init(
            untilExpiration: remaining.ms.map { .milliseconds($0) },
            untilLimit: remaining.hardMs.map { .milliseconds($0) })
    }
}
