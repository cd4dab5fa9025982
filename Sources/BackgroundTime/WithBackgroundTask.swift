/// What happens where there is no daemon.
public enum MissingDaemon: Sendable {
    /// ``BackgroundTimeError/daemonNotFound(path:reason:)`` is thrown, and the work does not begin.
    case fails
    /// The work runs without a limit.
    case isIgnored
}

/// Does work under a time limit that bgtaskd keeps.
///
/// The work is cancelled when its time is nearly over: what it does on that has the grace, and must be over before the
/// limit. If it throws `CancellationError` then, ``BackgroundTimeExpired`` comes out; a value that it returns within the
/// grace is returned. Where the work is still there at the limit, the task ends as `overrun`, and
/// ``BackgroundTimeExpired`` comes out when the work is over. The same happens where the daemon goes away.
///
/// Two connections serve all tasks of a process.
///
/// - Parameters:
///   - name: for people: 1 to 255 bytes without control characters.
///   - budget: all of its time; the profile's if not given.
///   - grace: the part of the budget that is left when the work is cancelled; a quarter of it if not given, 5 s at most.
///   - profile: which limits apply; the daemon's default if not given.
///   - application: whose background time it shares; `BGTASK_APPLICATION` if not given.
///   - socket: the daemon's, which is found as bgtaskctl(1) finds it if not given.
///   - withoutDaemon: what happens where nobody listens there.
///   - operation: the work.
/// - Returns: what the work returns.
/// - Throws: ``BackgroundTimeError`` where it could not begin, ``BackgroundTimeExpired``, or what the work throws.
public func withBackgroundTask<Value: Sendable>(
    named name: String, budget: Duration? = nil, grace: Duration? = nil,
    profile: String? = nil, application: String? = nil, socket: String? = nil,
    withoutDaemon: MissingDaemon = .fails,
    _ operation: @escaping @Sendable (BackgroundTask) async throws -> Value
) async throws -> Value {
    let holder = Holder.at(DaemonSocket.path(socket))
    let task = BackgroundTask(name, of: holder)
    do throws(BackgroundTimeError) {
        try await holder.begin(
            task, BudgetRequest(budget, grace), profile: profile,
            application: application ?? Environment.value("BGTASK_APPLICATION"))
    } catch {
        guard case .daemonNotFound = error, case .isIgnored = withoutDaemon else { throw error }
    }
    let work = Task { try await operation(task) }
    task.onExpiration { work.cancel() }
    let result = await withTaskCancellationHandler {
        await work.result
    } onCancel: {
        work.cancel()
    }
    let outcome = await holder.end(task)
    switch result {
    case .success(let value):
        if outcome == "overrun" { throw BackgroundTimeExpired(name: name, outcome: outcome) }
        return value
    case .failure(let error):
        // Where somebody else has cancelled it, that is what comes out.
        guard task.isExpired, error is CancellationError, !Task.isCancelled else { throw error }
        throw BackgroundTimeExpired(name: name, outcome: outcome)
    }
}
