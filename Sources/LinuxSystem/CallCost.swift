internal import Glibc

/// Finds sockets on which a call costs this thread too much: a message wakes all that poll the other end, one after the other
/// and in the thread that sends or takes it, and a user may have millions of them (epoll(7), max_user_watches).
struct CallCost {
    /// Nanoseconds.
    private static let costMax: Int64 = 5_000_000

    /// One call took that long. It may have been held up by others: what the next ones compute tells.
    private var isSuspected = false
    private(set) var isTooMuch = false

    /// Makes a call.
    ///
    /// - Returns: what it returns, and where that is negative its errno.
    mutating func count(_ call: () -> Int) -> (count: Int, errno: Int32) {
        let clock = isSuspected ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC
        let begin = nanoseconds(clock)
        let result = call()
        let fault = result < 0 ? errno : 0
        if nanoseconds(clock) - begin > CallCost.costMax {
            isTooMuch = isSuspected
            isSuspected = true
        }
        return (result, fault)
    }
}
