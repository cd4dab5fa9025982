internal import BackgroundTime
internal import Dispatch
internal import Foundation
internal import Synchronization
internal import TaskAPI

/// The tasks that this process holds, for any thread.
final class HeldTasks: Sendable {
    static let shared = HeldTasks()

    private let holder = TaskHolder(Daemon.endpoint)
    private let tasks = Mutex<[Int: HeldWork]>([:])
    /// Those that the program has ended, and the daemon does not know.
    private let ended = Mutex<[(id: Int, isSuccess: Bool)]>([])

    /// Begins a task.
    ///
    /// - Parameters:
    ///   - name: of any form; what the daemon does not take is left out of it.
    ///   - profile: the daemon's default if not given.
    ///   - queue: where the handler is called.
    ///   - handler: called once for each budget when it is nearly over, or when the daemon has taken the task back or is
    ///     gone; never after the end.
    /// - Returns: its number.
    func begin(
        _ name: String, profile: String? = nil, on queue: DispatchQueue,
        expirationHandler handler: (@Sendable () -> Void)?
    ) throws(BackgroundTimeError) -> Int {
        var input = Tasks.Begin.Input()
        input.name = HeldTasks.name(name)
        input.profile = profile
        input.application = ProcessRole.current.application
        let work = HeldWork(queue, handler) { [self] id in forget(id) }
        try holder.begin(work, input)
        guard let id = work.id else { throw .noTask }
        // It may have ended in between.
        tasks.withLock { if work.isHeld { $0[id] = work } }
        return id
    }

    /// Ends a task; one that has ended, or never was, is left alone.
    ///
    /// With the end of its last task an application is frozen at once. That must not happen in the middle of a callback,
    /// which may go on to begin another task: the daemon is told when the callback is over. Where the time is nearly
    /// over, it is told at once.
    ///
    /// - Parameter isSuccess: whether its work was done.
    func end(_ id: Int, isSuccess: Bool = true) {
        guard let work = tasks.withLock({ $0.removeValue(forKey: id) }) else { return }
        let isUrgent = work.end()
        ended.withLock { $0.append((id, isSuccess)) }
        guard !isUrgent, Thread.isMainThread, ProcessRole.current.application != nil else {
            return tellEnds()
        }
        DispatchQueue.main.async { [self] in tellEnds() }
    }

    /// Tells the daemon what has ended.
    func tellEnds() {
        let all = ended.withLock { ended in
            defer { ended = [] }
            return ended
        }
        for (id, isSuccess) in all {
            if !isSuccess {
                var input = Tasks.Complete.Input()
                (input.id, input.success) = (id, false)
                _ = try? holder.call(Tasks.Complete.self, input)
            }
            _ = try? holder.end(id)
        }
    }

    /// Says how far a task has come.
    func report(_ report: Tasks.Report.Input) {
        _ = try? holder.call(Tasks.Report.self, report)
    }

    /// The time until the first handler is called; `nil` where no limit is in force.
    func remaining() -> TimeInterval? {
        let ids = tasks.withLock { Array($0.keys) }
        return ids.compactMap { id -> TimeInterval? in
            var input = Tasks.RemainingTime.Input()
            input.id = id
            let left = try? holder.call(Tasks.RemainingTime.self, input).remaining.ms
            return left.map { TimeInterval($0) / 1000 }
        }.min()
    }

    /// The daemon has ended it.
    private func forget(_ id: Int) {
        tasks.withLock { $0[id] = nil }
        _ = try? holder.end(id)
    }

    /// A name as the daemon takes it: 1 to 255 bytes, without what steers a terminal.
    private static func name(_ given: String) -> String {
        var name = ""
        for scalar in given.unicodeScalars {
            let isShown: Bool =
                switch scalar.properties.generalCategory {
                case .control, .format, .lineSeparator, .paragraphSeparator: false
                default: true
                }
            guard isShown else { continue }
            guard name.utf8.count + UTF8.width(scalar) <= 255 else { break }
            name.unicodeScalars.append(scalar)
        }
        return name.isEmpty ? "background task" : name
    }
}

/// One task that is held, and its handler.
private final class HeldWork: HeldTask {
    /// Where it is: `armed` and `fired` follow each other with each budget, and lead to the others.
    private enum State {
        case armed, fired
        /// The daemon has ended it, or is gone.
        case revoked
        /// The program has ended it: no handler is called any more.
        case ended
    }

    private let state = Mutex(State.armed)
    private let number = Mutex<Int?>(nil)
    private let queue: DispatchQueue
    private let handler: (@Sendable () -> Void)?
    private let whenRevoked: @Sendable (Int) -> Void

    init(
        _ queue: DispatchQueue, _ handler: (@Sendable () -> Void)?,
        whenRevoked: @escaping @Sendable (Int) -> Void
    ) {
        (self.queue, self.handler, self.whenRevoked) = (queue, handler, whenRevoked)
    }

    var id: Int? { number.withLock { $0 } }

    var isHeld: Bool {
        state.withLock { state in
            switch state {
            case .armed, .fired: true
            case .revoked, .ended: false
            }
        }
    }

    /// The program has ended it.
    ///
    /// - Returns: whether its time was nearly over.
    func end() -> Bool {
        state.withLock { state in
            defer { state = .ended }
            return state != .armed
        }
    }

    func begun(as id: Int) { number.withLock { $0 = id } }

    func take(_ event: Tasks.Event) {
        switch event.kind {
        case .expiring: fire(.fired)
        case .extended, .resumed: state.withLock { if $0 == .fired { $0 = .armed } }
        case .ended: lost()
        default: break
        }
    }

    func lost() {
        fire(.revoked)
        if let id { whenRevoked(id) }
    }

    private func fire(_ next: State) {
        let isDue = state.withLock { state in
            guard state == .armed || state == .fired else { return false }
            defer { state = next }
            return state == .armed
        }
        guard isDue, let handler else { return }
        queue.async { [self] in
            // The program may have ended it meanwhile.
            guard state.withLock({ $0 != .ended }) else { return }
            handler()
        }
    }
}
