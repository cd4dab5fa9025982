internal import BackgroundTime
public import Foundation
internal import TaskAPI

/// Has the program run later, for a limited time, when there is a network, power, or what else it needs.
///
/// `@unchecked Sendable`: what changes is behind the lock.
public final class BGTaskScheduler: NSObject, @unchecked Sendable {
    /// The only one.
    public static let shared = BGTaskScheduler()

    private let lock = NSLock()
    private var registrations: [String: Registration] = [:]

    /// What calls a handler.
    ///
    /// `@unchecked Sendable`: the handler is called on its queue alone.
    fileprivate struct Registration: @unchecked Sendable {
        let queue: DispatchQueue
        /// A handler that blocks its queue must not hold up the one that says that the time is nearly over; a queue of the
        /// program's own it may count on.
        let expirationQueue: DispatchQueue
        let handler: (BGTask) -> Void

        init(_ identifier: String, _ queue: DispatchQueue?, _ handler: @escaping (BGTask) -> Void) {
            self.queue = queue ?? DispatchQueue(label: identifier)
            expirationQueue = queue ?? DispatchQueue(label: "\(identifier) expiration")
            self.handler = handler
        }

        func start(_ task: BGTask) { queue.async { handler(task) } }

        func expire(_ task: BGTask) { expirationQueue.async { task.expire() } }
    }

    /// A task whose handler was called.
    struct Launched: Sendable {
        private let task: BGTask
        private let registration: Registration

        fileprivate init(_ task: BGTask, _ registration: Registration) {
            (self.task, self.registration) = (task, registration)
        }

        /// Its time is nearly over.
        func expire() { registration.expire(task) }
    }

    /// Says what performs tasks of this identifier.
    ///
    /// - Parameter queue: where the handler is called; one of its own if not given.
    /// - Returns: whether there was none for it yet.
    @discardableResult
    public func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool {
        lock.withLock {
            guard registrations[identifier] == nil else { return false }
            registrations[identifier] = Registration(identifier, queue, launchHandler)
            return true
        }
    }

    // MARK: Requests

    /// Has a task performed later. One that waits under the same identifier is replaced; one that runs is not touched,
    /// and the new one waits for its end.
    ///
    /// - Throws: ``Error``.
    public func submit(_ taskRequest: BGTaskRequest) throws {
        if let continued = taskRequest as? BGContinuedProcessingTaskRequest {
            return try begin(continued)
        }
        let processing = taskRequest as? BGProcessingTaskRequest
        let kind = processing == nil ? BGTaskKind.refresh : .processing
        guard var work = launch.work(taskRequest.identifier, kind) else {
            throw Error(.unavailable)
        }
        work.unique = .replaceQueued
        work.earliestBeginMs = taskRequest.earliestBeginDate.map(Self.milliseconds)
        work.conditions =
            (processing?.requiresNetworkConnectivity == true ? [.network] : [])
            + (processing?.requiresExternalPower == true ? [.externalPower] : [])
        var input = Tasks.Submit.Input()
        input.work = work
        do throws(BackgroundTimeError) {
            _ = try Daemon.endpoint.call(Tasks.Submit.self, input)
        } catch {
            throw Error(error)
        }
    }

    /// Takes back a request that waits.
    public func cancel(taskRequestWithIdentifier identifier: String) {
        for task in queued where task.name == identifier { cancel(task.id) }
    }

    /// Takes back all requests of this program that wait.
    public func cancelAllTaskRequests() {
        for task in queued { cancel(task.id) }
    }

    /// Gives the requests that wait, as they were submitted, on a queue of its own.
    public func getPendingTaskRequests(
        completionHandler: @escaping ([BGTaskRequest]) -> Void
    ) {
        // It is called there alone.
        nonisolated(unsafe) let completionHandler = completionHandler
        DispatchQueue.global().async { completionHandler(self.pending) }
    }

    /// Gives the requests that wait, as they were submitted.
    public func pendingTaskRequests() async -> [BGTaskRequest] {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: self.pending) }
        }
    }

    private var launch: TaskLaunch { TaskLaunch(for: .current) }

    private var queued: [Tasks.Task] {
        var input = Tasks.List.Input()
        input.states = [.queued]
        let tasks = try? Daemon.endpoint.call(Tasks.List.self, input).tasks
        return tasks?.filter(launch.isOwn) ?? []
    }

    private var pending: [BGTaskRequest] {
        queued.compactMap { task in
            var input = Tasks.OwnReference()
            input.id = task.id
            // It may have started meanwhile.
            let shown = try? Daemon.endpoint.call(Tasks.ShowSubmission.self, input)
            return shown.map(Self.request)
        }
    }

    private func cancel(_ id: Int) {
        var input = Tasks.Cancel.Input()
        input.id = id
        _ = try? Daemon.endpoint.call(Tasks.Cancel.self, input)
    }

    /// The request that a task was submitted with.
    private static func request(_ shown: Tasks.ShowSubmission.Output) -> BGTaskRequest {
        let work = shown.work
        let request: BGTaskRequest
        if work.profile == BGTaskKind.processing.profile {
            let processing = BGProcessingTaskRequest(identifier: work.name)
            processing.requiresNetworkConnectivity = work.conditions?.contains(.network) == true
            processing.requiresExternalPower = work.conditions?.contains(.externalPower) == true
            request = processing
        } else {
            request = BGAppRefreshTaskRequest(identifier: work.name)
        }
        request.earliestBeginDate = work.earliestBeginMs.map { milliseconds in
            Date(timeIntervalSinceNow: Double(milliseconds - shown.submittedMs) / 1000)
        }
        return request
    }

    /// The time until a date, cut to the 366 days that the daemon has.
    private static func milliseconds(until date: Date) -> Int {
        let milliseconds = (date.timeIntervalSinceNow * 1000).rounded(.up)
        return Int(min(max(milliseconds, 0), 31_622_400_000))
    }

    // MARK: Tasks

    /// Calls the handler of a task whose time has come.
    ///
    /// - Parameter whenCompleted: called when the program says that the work is over, with whether it was a success.
    /// - Returns: `nil` where none is registered.
    func launch(
        _ identifier: String, _ kind: BGTaskKind,
        whenCompleted: @escaping @Sendable (Bool) -> Void
    ) -> Launched? {
        guard let registration = lock.withLock({ registrations[identifier] }) else { return nil }
        let task =
            switch kind {
            case .refresh: BGAppRefreshTask(identifier, whenCompleted: whenCompleted) as BGTask
            case .processing: BGProcessingTask(identifier, whenCompleted: whenCompleted)
            }
        registration.start(task)
        return Launched(task, registration)
    }

    /// Performs a task in this process, now.
    private func begin(_ request: BGContinuedProcessingTaskRequest) throws {
        guard let registration = lock.withLock({ registrations[request.identifier] }) else {
            throw Error(.notPermitted)
        }
        let reports = TaskReports()
        let task = BGContinuedProcessingTask(request, reports) { success in
            if let id = reports.finish() { HeldTasks.shared.end(id, isSuccess: success) }
        }
        do throws(BackgroundTimeError) {
            let id = try HeldTasks.shared.begin(
                request.identifier, profile: BGTaskKind.processing.profile, on: .global()
            ) { registration.expire(task) }
            reports.begun(as: id)
        } catch {
            let error = Error(error)
            throw error.code == .notPermitted && request.strategy == .fail
                ? Error(.immediateRunIneligible) : error
        }
        registration.start(task)
    }
}
