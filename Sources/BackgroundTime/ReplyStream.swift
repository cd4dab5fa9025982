internal import Glibc
internal import Synchronization

/// What a thread reads for a Swift task: a few elements ahead, so that what is not asked for stays with the daemon.
final class ReplyStream<Element: Sendable>: Sendable {
    private typealias Step = Result<Element?, BackgroundTimeError>

    private struct State {
        var elements: [Element] = []
        var reader: CheckedContinuation<Step, Never>?
        /// What comes after the elements, once that is known.
        var end: Step?
        var isStopped = false
        /// The connection's, which a stop shuts down.
        var descriptor: Int32?
    }

    private static var aheadMax: UInt32 { 64 }

    private let state = Mutex(State())
    private let room = Semaphore(aheadMax)

    // MARK: - The reader's side; there is one

    /// The next element; `nil` after the last, and for a task that is cancelled.
    func next() async throws(BackgroundTimeError) -> Element? {
        let step = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ready = state.withLock { state -> Step? in
                    if !state.isStopped, !state.elements.isEmpty {
                        return .success(state.elements.removeFirst())
                    }
                    if let end = state.end { return end }
                    state.reader = continuation
                    return nil
                }
                if let ready { continuation.resume(returning: ready) }
            }
        } onCancel: {
            stop()
        }
        room.post()
        return try step.get()
    }

    /// Nobody reads any more.
    func stop() {
        let reader = state.withLock { state in
            state.isStopped = true
            state.end = .success(nil)
            if let descriptor = state.descriptor { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: .success(nil))
        room.post()
    }

    // MARK: - The thread's side

    /// Whether nobody reads any more.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// It reads from this socket now.
    ///
    /// - Returns: whether somebody wants it.
    func reads(_ descriptor: Int32) -> Bool {
        state.withLock { state in
            if !state.isStopped { state.descriptor = descriptor }
            return !state.isStopped
        }
    }

    /// The socket is about to be closed.
    func readsNothing() { state.withLock { $0.descriptor = nil } }

    /// Passes an element on, when there is room.
    func yield(_ element: Element) {
        // A stop makes room for one that waits already.
        guard !isStopped else { return }
        room.wait()
        let reader = state.withLock { state -> CheckedContinuation<Step, Never>? in
            guard !state.isStopped else { return nil }
            defer { state.reader = nil }
            if state.reader == nil { state.elements.append(element) }
            return state.reader
        }
        reader?.resume(returning: .success(element))
    }

    /// No more elements come, for this reason.
    func finish(_ error: BackgroundTimeError?) {
        let end = error.map { Step.failure($0) } ?? .success(nil)
        let reader = state.withLock { state in
            if state.end == nil { state.end = end }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume(returning: end)
    }
}

/// Counts what there is room for.
///
/// `@unchecked Sendable`: a semaphore is made to be shared, and the pointer to it never changes.
private final class Semaphore: @unchecked Sendable {
    private let semaphore: UnsafeMutablePointer<sem_t>

    init(_ count: UInt32) {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, count)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func post() { sem_post(semaphore) }

    func wait() { while sem_wait(semaphore) != 0 {} }
}
