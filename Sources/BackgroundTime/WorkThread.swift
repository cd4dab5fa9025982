internal import Glibc
internal import Synchronization

/// A thread that does one thing after the other, so that what blocks keeps none of Swift's threads.
///
/// `@unchecked Sendable`: the semaphore is made to be shared, and what is to be done is behind the lock.
final class WorkThread: @unchecked Sendable {
    private let jobs = Mutex<[@Sendable () -> Void]>([])
    private let isStarted = Mutex(false)
    private let waiting: UnsafeMutablePointer<sem_t>

    init() {
        waiting = .allocate(capacity: 1)
        sem_init(waiting, 0, 0)
    }

    // It is never freed: its thread has no end.

    /// Has something done on the thread.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable () -> Result<Value, BackgroundTimeError>
    ) async throws(BackgroundTimeError) -> Value {
        let hasThread = isStarted.withLock { isStarted in
            if !isStarted { isStarted = startThread { [self] in serve() } }
            return isStarted
        }
        // Where there is no room for a thread, it is done here.
        guard hasThread else { return try body().get() }
        let result = await withCheckedContinuation { continuation in
            jobs.withLock { $0.append { continuation.resume(returning: body()) } }
            sem_post(waiting)
        }
        return try result.get()
    }

    private func serve() {
        while true {
            while sem_wait(waiting) != 0 {}
            let job = jobs.withLock { $0.removeFirst() }
            job()
        }
    }
}

/// Starts a thread that nobody waits for, with all signals blocked: they are the program's.
///
/// - Returns: whether there was room for one.
func startThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var (all, before) = (sigset_t(), sigset_t())
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(body))
    let result = pthread_create(
        &thread, nil,
        { pointer in
            guard let pointer else { return nil }
            Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
            return nil
        }, box.toOpaque())
    guard result == 0 else {
        box.release()
        return false
    }
    pthread_detach(thread)
    return true
}
