internal import Glibc
internal import Synchronization
package import TaskAPI
package import Varlink

/// What holds the tasks of this process at one daemon: one connection for the calls, and one that tells of all tasks.
///
/// Both are there for as long as there are tasks. Any thread may call it, and waits for the answer; what it tells of the
/// tasks comes on a thread of its own.
package final class TaskHolder: Sendable {
    private let daemon: DaemonEndpoint
    private let connections = Mutex<Connections?>(nil)
    /// Held from a Begin to its answer, so that an event of a task finds it.
    private let held = Mutex(Held())

    private struct Connections {
        let calls: VarlinkClient
        let events: ReplyReader<Tasks.Watch>
    }

    private struct Held {
        var tasks: [Int: any HeldTask] = [:]
        /// Counts the connections that tell of them: of an earlier one the end means nothing.
        var connection = 0

        mutating func takeAll() -> [any HeldTask] {
            defer { tasks = [:] }
            return Array(tasks.values)
        }
    }

    /// Holds nothing yet, and has no connection.
    package init(_ daemon: DaemonEndpoint) { self.daemon = daemon }

    /// Begins a task, and tells it what happens to it from then on.
    package func begin(
        _ task: any HeldTask, _ input: Tasks.Begin.Input
    ) throws(BackgroundTimeError) {
        var lost: [any HeldTask] = []
        defer { for task in lost { task.lost() } }
        do throws(ClientError) {
            try connections.withLock { connections throws(ClientError) in
                defer { closeIfIdle(&connections) }
                let isReused = isOpen(connections)
                do throws(ClientError) {
                    try begin(task, input, &connections, &lost)
                } catch {
                    // The daemon may have gone since the last call, and another one be there.
                    guard isReused, error == .disconnected else { throw error }
                    try begin(task, input, &connections, &lost)
                }
            }
        } catch {
            throw BackgroundTimeError(error, at: daemon.path)
        }
    }

    /// Ends a task.
    ///
    /// - Returns: how it has ended, as far as that is known.
    package func end(_ id: Int) throws(BackgroundTimeError) -> Tasks.Outcome? {
        do throws(ClientError) {
            return try connections.withLock { connections throws(ClientError) in
                defer { closeIfIdle(&connections) }
                guard held.withLock({ $0.tasks.removeValue(forKey: id) }) != nil,
                    connections != nil
                else { return nil }
                var input = Tasks.End.Input()
                input.id = id
                return try call(Tasks.End.self, input, &connections).outcome
            }
        } catch {
            throw BackgroundTimeError(error, at: daemon.path)
        }
    }

    /// Calls a method about a task that it holds.
    package func call<M: Varlink.Method & SendableMetatype>(
        _ method: M.Type, _ input: M.Input
    ) throws(BackgroundTimeError) -> M.Output where M.Input: Sendable, M.Output: Sendable {
        let output: M.Output?
        do throws(ClientError) {
            output = try connections.withLock { connections throws(ClientError) -> M.Output? in
                guard connections != nil else { return nil }
                return try call(method, input, &connections)
            }
        } catch {
            throw BackgroundTimeError(error, at: daemon.path)
        }
        guard let output else { throw .noTask }
        return output
    }

    private func begin(
        _ task: any HeldTask, _ input: Tasks.Begin.Input, _ connections: inout Connections?,
        _ lost: inout [any HeldTask]
    ) throws(ClientError) {
        if !isOpen(connections) { try open(&connections, &lost) }
        try held.withLock { held throws(ClientError) in
            let id = try call(Tasks.Begin.self, input, &connections).id
            task.begun(as: id)
            held.tasks[id] = task
        }
    }

    private func isOpen(_ connections: Connections?) -> Bool {
        connections?.events.isOver == false
    }

    /// Opens both connections. What is left of earlier ones has no time any more.
    private func open(
        _ connections: inout Connections?, _ lost: inout [any HeldTask]
    ) throws(ClientError) {
        close(&connections)
        let connection = held.withLock { held in
            held.connection += 1
            lost += held.takeAll()
            return held.connection
        }
        // Before the first task begins.
        var input = Tasks.Watch.Input()
        input.held = true
        let events = try ReplyReader(Tasks.Watch.self, input, at: daemon)
        let calls = try daemon.connected()
        guard events.start({ [self] in take($0?.event, of: connection) }) else {
            throw ClientError.failed(operation: "pthread_create", errno: EAGAIN)
        }
        connections = Connections(calls: calls, events: events)
    }

    private func call<M: Varlink.Method>(
        _ method: M.Type, _ input: M.Input, _ connections: inout Connections?
    ) throws(ClientError) -> M.Output {
        guard let calls = connections?.calls else { throw .disconnected }
        do throws(ClientError) {
            return try calls.call(method, input)
        } catch {
            // What is answered next would be taken for the answer to another call.
            if case .remote = error {} else { close(&connections) }
            throw error
        }
    }

    private func close(_ connections: inout Connections?) {
        connections?.events.stop()
        // The daemon takes the end of the one with the calls for that of its tasks.
        connections = nil
    }

    private func closeIfIdle(_ connections: inout Connections?) {
        if held.withLock({ $0.tasks.isEmpty }) { close(&connections) }
    }

    /// Takes an event, or that there are no more: then no time is promised any longer.
    private func take(_ event: Tasks.Event?, of connection: Int) {
        if let event { return held.withLock { $0.tasks[event.task.id] }?.take(event) ?? () }
        let lost = held.withLock { $0.connection == connection ? $0.takeAll() : [] }
        for task in lost { task.lost() }
    }
}
