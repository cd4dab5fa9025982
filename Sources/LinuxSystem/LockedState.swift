internal import Glibc

/// State behind a lock of pthread_mutex_lock(3), for what threads share.
///
/// Synchronization's `Mutex` does the same, but ThreadSanitizer does not see it (`make sanitize`) and
/// calls each use of the state a race.
///
/// `@unchecked Sendable`: `state` is touched only while `mutex` is held.
package final class LockedState<State>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` alone with the state; it must not lock the same state again.
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state)
    }
}
