#if ServiceLifecycle
    public import BackgroundTime
    public import ServiceLifecycle
    internal import Synchronization

    /// Runs jobs as background tasks, and stops in an orderly way.
    ///
    /// ```swift
    /// let background = BackgroundTaskService()
    /// let group = ServiceGroup(
    ///     services: [background, server], gracefulShutdownSignals: [.sigterm], logger: logger)
    ///
    /// // In the server, for each request:
    /// try await background.withBackgroundTask(named: "upload", budget: .seconds(60)) { task in
    ///     try await upload()
    /// }
    /// ```
    ///
    /// Once its graceful shutdown begins it takes no more jobs, and waits for those that are held. None is cancelled for
    /// the stop: each has the rest of its budget. What is stuck is cancelled when its time is nearly over, as always; what
    /// ignores that is not waited for beyond its limit. A group shuts its services down from the last to the first, so
    /// that this one stands before those that hand in jobs.
    ///
    /// While jobs are held at the stop, systemd is asked for the time that they have left (`EXTEND_TIMEOUT_USEC`,
    /// sd_notify(3)), so that `TimeoutStopSec` does not cut it. It hears that from units of `Type=notify`, or with
    /// `NotifyAccess=main`.
    public final class BackgroundTaskService: Service {
        /// A job is refused: the service stops.
        public struct Stopping: Error, Equatable, Sendable, CustomStringConvertible {
            /// One sentence, for a person.
            public var description: String { "the service stops, and takes no more jobs" }
        }

        private struct State {
            /// Those that are held; `nil` where the daemon has not begun it yet.
            var jobs: [Int: BackgroundTask?] = [:]
            var last = 0
            var isClosed = false
            /// Waits until no job is held.
            var waiter: CheckedContinuation<Void, Never>?
        }

        private let socket: String?
        private let withoutDaemon: MissingDaemon
        private let state = Mutex(State())

        /// - Parameters:
        ///   - socket: the daemon's, which is found as bgtaskctl(1) finds it if not given.
        ///   - withoutDaemon: what happens where nobody listens there.
        public init(socket: String? = nil, withoutDaemon: MissingDaemon = .fails) {
            (self.socket, self.withoutDaemon) = (socket, withoutDaemon)
        }

        // MARK: - Jobs

        /// Does a job under a time limit, as the function of this name in `BackgroundTime` does.
        ///
        /// - Throws: ``Stopping`` once the service stops; else what that function throws.
        public func withBackgroundTask<Value: Sendable>(
            named name: String, budget: Duration? = nil, grace: Duration? = nil,
            profile: String? = nil, application: String? = nil,
            _ operation: @escaping @Sendable (BackgroundTask) async throws -> Value
        ) async throws -> Value {
            let job = try begin()
            defer { end(job) }
            return try await BackgroundTime.withBackgroundTask(
                named: name, budget: budget, grace: grace, profile: profile,
                application: application, socket: socket, withoutDaemon: withoutDaemon
            ) { [self] task in
                await hold(task, for: job)
                return try await operation(task)
            }
        }

        private func begin() throws(Stopping) -> Int {
            try state.withLock { state throws(Stopping) in
                guard !state.isClosed else { throw Stopping() }
                state.last += 1
                state.jobs[state.last] = .some(nil)
                return state.last
            }
        }

        private func hold(_ task: BackgroundTask, for job: Int) async {
            let isClosed = state.withLock { state in
                state.jobs[job] = .some(task)
                return state.isClosed
            }
            task.onChange { [self] in changed(task, of: job) }
            // It may have ended before it could say so.
            if task.hasEnded { return end(job) }
            if isClosed { await askForTime(of: task) }
        }

        private func changed(_ task: BackgroundTask, of job: Int) {
            if task.hasEnded { return end(job) }
            guard state.withLock({ $0.isClosed }) else { return }
            Task { await askForTime(of: task) }
        }

        /// It is waited for no more.
        private func end(_ job: Int) {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                state.jobs[job] = nil
                guard state.jobs.isEmpty else { return nil }
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }

        // MARK: - The stop

        /// Takes jobs until the graceful shutdown, and waits for those that are held then.
        public func run() async throws {
            defer { _ = close() }
            try await gracefulShutdown()
            for task in close() { await askForTime(of: task) }
            await withTaskCancellationHandler {
                await withCheckedContinuation { waiter in
                    let isIdle = state.withLock { state in
                        if !state.jobs.isEmpty { state.waiter = waiter }
                        return state.jobs.isEmpty
                    }
                    if isIdle { waiter.resume() }
                    if Task.isCancelled { giveUp() }
                }
            } onCancel: {
                giveUp()
            }
        }

        /// - Returns: what is held.
        private func close() -> [BackgroundTask] {
            state.withLock { state in
                state.isClosed = true
                return state.jobs.values.compactMap(\.self)
            }
        }

        private func giveUp() {
            let waiter = state.withLock { state in
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume()
        }

        private func askForTime(of task: BackgroundTask) async {
            guard let left = try? await task.remaining().untilLimit else { return }
            ServiceManager.extendTimeout(by: left + Self.margin)
        }

        /// For what is done after the last job.
        private static var margin: Duration { .seconds(5) }
    }
#endif
