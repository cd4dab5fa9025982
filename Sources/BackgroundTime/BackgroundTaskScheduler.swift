internal import TaskAPI

/// Has commands run as background tasks, and tells of all tasks of this user.
///
/// Calls that are answered at once go over one connection, one after the other; it is there for as long as such calls
/// are under way. What takes as long as a task, ``wait(for:)``, ``watch(_:output:application:all:)`` and what else returns
/// a ``BackgroundTaskSequence``, has a connection and a thread of its own, and ends when the Swift task that waits is
/// cancelled.
///
/// A daemon may be restarted between two calls. A call whose connection breaks is made once more if it was not sent as
/// a whole, or if twice is as good as once; a submission that may have been taken is never sent again, and ends with
/// ``BackgroundTimeError/disconnected(reason:)``. A wait and a watch go on over a restart, for which they have 30
/// seconds.
public struct BackgroundTaskScheduler: Sendable {
    /// That of the daemon which bgtaskctl(1) finds from here.
    public static let shared = BackgroundTaskScheduler()

    /// The daemon's socket.
    public let socket: String
    private let calls: CallQueue

    /// - Parameter socket: the daemon's, which is found as bgtaskctl(1) finds it if not given.
    public init(socket: String? = nil) {
        self.socket = DaemonSocket.path(socket)
        calls = CallQueue.at(self.socket)
    }

    // MARK: - Commands

    /// Has the daemon run a command. When this returns, it will survive a crash of the daemon.
    public func submit(
        _ command: BackgroundCommand
    ) async throws(BackgroundTimeError) -> BackgroundTaskSubmission {
        var input = Tasks.Submit.Input()
        input.work = command.wire
        return BackgroundTaskSubmission(try await calls.call(SubmitCall.self, input, .harmful))
    }

    /// Submits an ended command of one's own again, as it was submitted.
    ///
    /// - Parameters:
    ///   - id: the command that has ended.
    ///   - after: tasks that must have completed before it starts.
    ///   - afterAny: tasks that must have ended, however.
    public func restart(
        _ id: Int, after: [Int] = [], afterAny: [Int] = []
    ) async throws(BackgroundTimeError) -> BackgroundTaskSubmission {
        var input = Tasks.Restart.Input()
        input.id = id
        input.after = after.isEmpty ? nil : after
        input.afterAny = afterAny.isEmpty ? nil : afterAny
        return BackgroundTaskSubmission(try await calls.call(RestartCall.self, input, .harmful))
    }

    /// Waits until a task has ended, over restarts of the daemon too.
    ///
    /// - Returns: the task as it ended.
    public func wait(for id: Int) async throws(BackgroundTimeError) -> BackgroundTaskInfo {
        guard let task = try await end(of: id, nil) else { throw .noTask }
        return task
    }

    /// The same for so long at most.
    ///
    /// - Returns: `nil` where the task has not ended by then.
    public func wait(
        for id: Int, timeout: Duration
    ) async throws(BackgroundTimeError) -> BackgroundTaskInfo? {
        try await end(of: id, ContinuousClock.now.advanced(by: timeout))
    }

    private func end(
        of id: Int, _ deadline: ContinuousClock.Instant?
    ) async throws(BackgroundTimeError) -> BackgroundTaskInfo? {
        let call = LongCall<WaitCall, BackgroundTaskInfo>(
            socket, .acrossRestarts(notice: nil, until: deadline), hasMore: false
        ) {
            var input = Tasks.Wait.Input()
            input.id = id
            input.timeoutMs = deadline.map {
                max(0, ContinuousClock.now.duration(to: $0).milliseconds)
            }
            return input
        } elements: {
            $0.task.map { [BackgroundTaskInfo($0)] } ?? []
        }
        var ends = BackgroundTaskSequence { call.start() }.makeAsyncIterator()
        let task = try await ends.next()
        // The sequence ends quietly where its reader is cancelled; who waits for one value is told.
        if task == nil, Task.isCancelled { throw .cancelled }
        return task
    }

    // MARK: - Looking

    /// A task, live or ended.
    ///
    /// - Parameters:
    ///   - id: its number.
    ///   - all: whether it may be another user's; for operators.
    public func show(
        _ id: Int, all: Bool = false
    ) async throws(BackgroundTimeError) -> BackgroundTaskInfo {
        BackgroundTaskInfo(try await calls.call(ShowCall.self, reference(id, all), .harmless).task)
    }

    /// Tasks that have not ended, or with `ended` those too that the daemon remembers.
    ///
    /// - Parameters:
    ///   - name: those of this name.
    ///   - group: those of this group.
    ///   - states: those in one of these states.
    ///   - ended: those too that have ended.
    ///   - all: those of all users; for operators.
    public func tasks(
        named name: String? = nil, group: String? = nil, states: [BackgroundTaskInfo.State] = [],
        ended: Bool = false, all: Bool = false
    ) -> BackgroundTaskSequence<BackgroundTaskInfo> {
        var input = ListingInput()
        (input.name, input.group) = (name, group)
        input.states = states.isEmpty ? nil : states.map(\.rawValue)
        (input.ended, input.all) = (ended ? true : nil, all ? true : nil)
        return listing(ListCall.self, input)
    }

    /// Commands that have ended, the newest first, as far back as the history goes.
    ///
    /// - Parameters:
    ///   - name: those of this name.
    ///   - group: those of this group.
    ///   - outcomes: those that ended in one of these ways.
    ///   - since: those that ended within this time.
    ///   - all: those of all users; for operators.
    public func history(
        named name: String? = nil, group: String? = nil,
        outcomes: [BackgroundTaskInfo.Outcome] = [], since: Duration? = nil, all: Bool = false
    ) -> BackgroundTaskSequence<BackgroundTaskInfo> {
        var input = ListingInput()
        (input.name, input.group) = (name, group)
        input.outcomes = outcomes.isEmpty ? nil : outcomes.map(\.rawValue)
        (input.sinceMs, input.all) = (since?.milliseconds, all ? true : nil)
        return listing(HistoryCall.self, input)
    }

    private func listing<M: Listing & SendableMetatype>(
        _ method: M.Type, _ input: ListingInput
    ) -> BackgroundTaskSequence<BackgroundTaskInfo> {
        let call = LongCall<M, BackgroundTaskInfo>(socket, .once) {
            input
        } elements: {
            $0.task.map { [BackgroundTaskInfo($0)] } ?? []
        }
        return BackgroundTaskSequence { call.start() }
    }

    /// The rules that hold a task back, limit it, or stopped it.
    public func explain(
        _ id: Int, all: Bool = false
    ) async throws(BackgroundTimeError) -> [BackgroundTaskExplanation] {
        try await calls.call(Tasks.Explain.self, reference(id, all), .harmless)
            .explanations.map(BackgroundTaskExplanation.init)
    }

    /// What happens to a task, from its present state until it has ended; or to all of one's own, for as long as it is
    /// asked for.
    ///
    /// It goes on with a daemon that has been restarted, and says so: ``BackgroundTaskWatchEvent/reconnected``.
    ///
    /// - Parameters:
    ///   - id: the task; all if not given.
    ///   - output: with what the tasks print.
    ///   - application: those of this application alone.
    ///   - all: those of all users; for operators.
    public func watch(
        _ id: Int? = nil, output: Bool = false, application: String? = nil, all: Bool = false
    ) -> BackgroundTaskSequence<BackgroundTaskWatchEvent> {
        var input = Tasks.Watch.Input()
        (input.id, input.application) = (id, application)
        (input.output, input.all) = (output ? true : nil, all ? true : nil)
        let asked = input
        let socket = socket
        return BackgroundTaskSequence {
            let numbers = EventNumbers()
            return LongCall<WatchCall, BackgroundTaskWatchEvent>(
                socket, .acrossRestarts(notice: .reconnected, until: nil)
            ) {
                numbers.begin()
                return asked
            } elements: {
                let event = BackgroundTaskWatchEvent.task(BackgroundTaskEvent($0.event))
                let missing = numbers.missing(before: $0.event.number)
                return missing > 0 ? [.missed(missing), event] : [event]
            }.start()
        }
    }

    /// What a command has printed, as far as it is kept; with `follow` until it has ended.
    ///
    /// - Parameters:
    ///   - id: the command.
    ///   - follow: until it has ended.
    ///   - from: where it begins, in bytes: ``BackgroundTaskOutput/next`` of the last piece that was read, after a connection
    ///     that broke.
    public func output(
        of id: Int, follow: Bool = false, from: Int = 0
    ) -> BackgroundTaskSequence<BackgroundTaskOutput> {
        var input = Tasks.Output.Input()
        (input.id, input.follow) = (id, follow ? true : nil)
        input.from = from > 0 ? from : nil
        let asked = input
        let call = LongCall<Tasks.Output, BackgroundTaskOutput>(socket, .once) {
            asked
        } elements: {
            // The last reply of a stream may be there for its end alone.
            $0.text.isEmpty && ($0.dropped ?? 0) == 0 ? [] : [BackgroundTaskOutput($0)]
        }
        return BackgroundTaskSequence { call.start() }
    }

    // MARK: - Orders

    /// Stops a task: a command gets SIGTERM, or `signal`, and its grace.
    ///
    /// - Parameters:
    ///   - id: the task.
    ///   - signal: such as `SIGKILL`, which kills at once.
    ///   - reason: for people.
    public func cancel(
        _ id: Int, signal: String? = nil, reason: String? = nil
    ) async throws(BackgroundTimeError) {
        var input = Tasks.Cancel.Input()
        (input.id, input.signal, input.reason) = (id, signal, reason)
        _ = try await calls.call(Tasks.Cancel.self, input, .harmful)
    }

    /// Begins a task's budget anew, cut to what the profile's lifetime limit leaves.
    ///
    /// - Returns: what time it has then.
    @discardableResult
    public func extend(_ id: Int) async throws(BackgroundTimeError) -> BackgroundTask.Remaining {
        BackgroundTask.Remaining(
            try await calls.call(Tasks.Extend.self, reference(id, false), .harmless).remaining)
    }

    /// What time a task has left.
    public func remaining(_ id: Int) async throws(BackgroundTimeError) -> BackgroundTask.Remaining {
        BackgroundTask.Remaining(
            try await calls.call(Tasks.RemainingTime.self, reference(id, false), .harmless)
                .remaining)
    }

    /// Says how far a task has come, for those who look at it; what is left out stays as it was.
    public func report(
        _ id: Int, _ text: String? = nil, completed: Int? = nil, total: Int? = nil
    ) async throws(BackgroundTimeError) {
        var input = Tasks.Report.Input()
        (input.id, input.text, input.completed, input.total) = (id, text, completed, total)
        _ = try await calls.call(Tasks.Report.self, input, .harmless)
    }

    /// Removes tasks that have ended from the lists and the history, 500 at most.
    public func clean(_ ids: [Int]) async throws(BackgroundTimeError) {
        var input = Tasks.Clean.Input()
        input.ids = ids
        // What is not there is passed over, so that twice is as good as once.
        _ = try await calls.call(Tasks.Clean.self, input, .harmless)
    }

    private func reference(_ id: Int, _ all: Bool) -> Tasks.Reference {
        var reference = Tasks.Reference()
        (reference.id, reference.all) = (id, all ? true : nil)
        return reference
    }
}
