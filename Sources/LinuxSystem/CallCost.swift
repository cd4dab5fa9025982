internal import Glibc

/// Finds sockets on which a call costs this thread too much: a message wakes all that poll the other end, one after the other
/// and in the thread that sends or takes it, and a user may have millions of them (epoll(7), max_user_watches).
package struct CallCost {
    /// Nanoseconds.
    private static let costMax: Int64 = 5_000_000
    /// What such a call weighs, as many others make good for, and what is too much. One call may have been held up by others, and
    /// what one computes may have an interrupt or a stolen moment in it.
    private static let (weight, weightMax) = (10, 30)

    private var load = 0

    package init() {}

    package var isTooMuch: Bool { load >= CallCost.weightMax }

    /// Makes a call.
    ///
    /// - Returns: what it returns, and where that is negative its errno.
    package mutating func count(_ call: () -> Int) -> (count: Int, errno: Int32) {
        // What a thread computes is dearer to ask for.
        let clock = load == 0 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID
        let begin = nanoseconds(clock)
        let count = call()
        let fault = count < 0 ? errno : 0
        took(nanoseconds(clock) - begin)
        return (count, fault)
    }

    /// A call took so many nanoseconds.
    package mutating func took(_ nanoseconds: Int64) {
        if nanoseconds > CallCost.costMax {
            load += CallCost.weight
        } else if load > 0 {
            load -= 1
        }
    }
}
