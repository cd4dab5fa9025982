internal import CSystemd
internal import Glibc

/// State behind a lock, with waiting for a condition on it.
///
/// `Mutex` of Synchronization cannot wait, and a thread of ours must sleep without a wake-up while
/// there is nothing to do: hence pthread_cond_wait(3).
///
/// `@unchecked Sendable`: `state` is touched only while `mutex` is held, and the rest never changes.
final class Monitor<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` alone with the state, and wakes whoever waits for a change of it.
    func withState<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        let result = body(&state)
        unlockAndWake()
        return result
    }

    /// Waits until `isTrue`, then runs `body` as ``withState(_:)`` does.
    func when<Result>(_ isTrue: (State) -> Bool, _ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        while !isTrue(state) {
            pthread_cond_wait(condition, mutex)
        }
        let result = body(&state)
        unlockAndWake()
        return result
    }

    /// Waits until `isTrue`, at most until `deadline`, in ns of CLOCK_MONOTONIC.
    ///
    /// - Returns: whether it became true in time.
    func wait(untilNanoseconds deadline: UInt64, _ isTrue: (State) -> Bool) -> Bool {
        var limit = timespec(
            tv_sec: Int(deadline / 1_000_000_000),
            tv_nsec: Int(deadline % 1_000_000_000)
        )
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !isTrue(state) {
            guard pthread_cond_timedwait(condition, mutex, &limit) == 0 else {
                return isTrue(state)
            }
        }
        return true
    }

    /// In this order: who wakes finds the lock free. No system call where nobody waits.
    private func unlockAndWake() {
        pthread_mutex_unlock(mutex)
        pthread_cond_broadcast(condition)
    }
}
