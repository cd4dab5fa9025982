internal import Glibc
internal import Synchronization
internal import TaskAPI
internal import Varlink

/// What holds the tasks of this process at one daemon: one connection for the calls, and one that tells of all tasks.
///
/// Both are there for as long as there are tasks.
final class Holder: Sendable {
    private static let all = Mutex<[String: Holder]>([:])

    static func at(_ path: String) -> Holder {
        all.withLock { holders in
            if let holder = holders[path] { return holder }
            let holder = Holder(path)
            holders[path] = holder
            return holder
        }
    }

    private let path: String
    private let thread = WorkThread()
    private let calls: Calls
    /// Held from a Begin to its answer, so that an event of a task finds it.
    private let held = Mutex(Held())

    private struct Held {
        var tasks: [Int: BackgroundTask] = [:]
        /// Counts the connections that tell of them: of an earlier one the end means nothing.
        var connection = 0
    }

    private init(_ path: String) {
        self.path = path
        calls = Calls(path)
    }

    /// Begins a task.
    func begin(
        _ task: BackgroundTask, _ budget: BudgetRequest, profile: String?, application: String?
    ) async throws(BackgroundTimeError) {
        try await thread.run { [self] in
            Result { () throws(BackgroundTimeError) in
                var input = Tasks.Begin.Input()
                (input.name, input.budget) = (task.name, budget.wire)
                (input.profile, input.application) = (profile, application)
                let asked = input
                let client = try opened()
                defer { closeIfIdle() }
                try held.withLock { held throws(BackgroundTimeError) in
                    let id = try calls.call(Tasks.Begin.self, asked, on: client).id
                    task.begun(as: id)
                    held.tasks[id] = task
                }
            }
        }
    }

    /// Ends a task.
    ///
    /// - Returns: how it has ended, as far as that is known.
    func end(_ task: BackgroundTask) async -> String? {
        guard let id = task.id else {
            task.end(nil)
            return nil
        }
        let outcome = try? await thread.run { [self] in
            Result<String?, BackgroundTimeError> { () throws(BackgroundTimeError) in
                defer { closeIfIdle() }
                guard held.withLock({ $0.tasks.removeValue(forKey: id) }) != nil,
                    let client = calls.client
                else { return nil }
                var input = Tasks.End.Input()
                input.id = id
                return try calls.call(Tasks.End.self, input, on: client).outcome?.rawValue
            }
        }
        task.end(outcome ?? nil)
        return task.outcome
    }

    /// Calls a method about a task.
    func call<M: Varlink.Method & SendableMetatype>(
        _ method: M.Type, _ input: M.Input
    ) async throws(BackgroundTimeError) -> M.Output where M.Input: Sendable, M.Output: Sendable {
        try await thread.run { [self] in
            Result { () throws(BackgroundTimeError) in
                guard let client = calls.client else { throw .noTask }
                return try calls.call(method, input, on: client)
            }
        }
    }

    private func opened() throws(BackgroundTimeError) -> VarlinkClient {
        if let client = calls.openClient { return client }
        // What is left of an earlier connection has no time any more.
        let (connection, lost) = held.withLock { held in
            held.connection += 1
            defer { held.tasks = [:] }
            return (held.connection, Array(held.tasks.values))
        }
        for task in lost { task.lost() }
        return try calls.open { [self] event in take(event, of: connection) }
    }

    private func closeIfIdle() {
        if held.withLock({ $0.tasks.isEmpty }) { calls.close() }
    }

    /// Takes an event, or that there are no more: then no time is promised any longer.
    private func take(_ event: Tasks.Event?, of connection: Int) {
        if let event { return held.withLock { $0.tasks[event.task.id] }?.take(event) ?? () }
        let lost = held.withLock { held -> [BackgroundTask] in
            guard held.connection == connection else { return [] }
            defer { held.tasks = [:] }
            return Array(held.tasks.values)
        }
        for task in lost { task.lost() }
    }
}

/// The connections; but for `Watching`, they belong to the holder's thread.
///
/// `@unchecked Sendable`: used on that thread alone.
private final class Calls: @unchecked Sendable {
    /// How long an answer is waited for.
    private static let timeout = Duration.seconds(10)

    private let path: String
    private(set) var client: VarlinkClient?
    private var watching: Watching?

    init(_ path: String) { self.path = path }

    /// Where the calls go, while both connections are open.
    var openClient: VarlinkClient? { watching?.isOver == false ? client : nil }

    /// Opens both connections, and has events told to somebody: `nil` after the last.
    func open(
        _ tell: @escaping @Sendable (Tasks.Event?) -> Void
    ) throws(BackgroundTimeError) -> VarlinkClient {
        close()
        do throws(ClientError) {
            // Before the first task begins.
            let events = try VarlinkClient(address: path)
            var input = Tasks.Watch.Input()
            input.held = true
            try events.send(Tasks.Watch.self, input, more: true)
            let client = try VarlinkClient(address: path, timeout: Self.timeout)
            let watching = Watching(events)
            guard watching.start(tell) else {
                throw ClientError.failed(operation: "pthread_create", errno: EAGAIN)
            }
            (self.client, self.watching) = (client, watching)
            return client
        } catch {
            throw BackgroundTimeError(error, at: path)
        }
    }

    func call<M: Varlink.Method>(
        _ method: M.Type, _ input: M.Input, on client: VarlinkClient
    ) throws(BackgroundTimeError) -> M.Output {
        do throws(ClientError) {
            return try client.call(method, input)
        } catch {
            // What is answered next would be taken for the answer to another call.
            if case .remote = error {} else { close() }
            throw BackgroundTimeError(error, at: path)
        }
    }

    func close() {
        watching?.stop()
        // The daemon takes this one's end for that of its tasks.
        (client, watching) = (nil, nil)
    }
}

/// The connection that tells of all tasks, on a thread of its own.
///
/// `@unchecked Sendable`: its client is used by its thread alone, but for the descriptor, which is behind the lock.
private final class Watching: @unchecked Sendable {
    private var client: VarlinkClient?
    /// The socket, for as long as it is open.
    private let descriptor: Mutex<Int32?>

    init(_ client: VarlinkClient) {
        self.client = client
        descriptor = Mutex(client.descriptor)
    }

    var isOver: Bool { descriptor.withLock { $0 == nil } }

    /// Tells of what happens, and `nil` at the end.
    func start(_ tell: @escaping @Sendable (Tasks.Event?) -> Void) -> Bool {
        startThread { [self] in
            while let event = try? client?.receive(Tasks.Watch.self).output.event { tell(event) }
            descriptor.withLock { $0 = nil }
            client = nil
            tell(nil)
        }
    }

    /// Has it end.
    func stop() {
        descriptor.withLock { descriptor in
            if let descriptor { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}
