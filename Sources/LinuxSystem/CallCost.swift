internal import Glibc

/// Finds sockets on which each call of a kind costs this thread too much: a message wakes all that poll the other end, one
/// after the other and in the thread that sends or takes it, and a user may have millions of them (epoll(7),
/// max_user_watches).
///
/// On a machine that is short of memory or of processor time any call may take long. So they are counted where several
/// follow each other, and a call of our own after each of them was quick.
package struct CallCost {
    /// Nanoseconds of a call, and of each byte that it copies.
    private static let (costMax, byteCost): (Int64, Int64) = (5_000_000, 50)
    /// How many times as long as one of our own.
    private static let ratioMin: Int64 = 8
    /// So many in a row are too much.
    private static let rowMax = 4

    private var slowInARow = 0

    package init() {}

    package var isTooMuch: Bool { slowInARow >= CallCost.rowMax }

    /// Makes a call that returns how many bytes it has copied.
    ///
    /// - Returns: what it returns, and where that is negative its errno.
    package mutating func count(_ call: () -> Int) -> (count: Int, errno: Int32) {
        // What a thread computes is dearer to ask for, and what it waits for is nobody's fault.
        let clock = slowInARow == 0 ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID
        let begin = nanoseconds(clock)
        let count = call()
        let fault = count < 0 ? errno : 0
        took(nanoseconds(clock) - begin, bytes: count, ownCall: Self.ownCall)
        return (count, fault)
    }

    /// A call took so many nanoseconds.
    ///
    /// - Parameter ownCall: makes one on a socket of our own, and tells the nanoseconds that it took.
    package mutating func took(_ nanoseconds: Int64, bytes: Int, ownCall: () -> Int64) {
        let isSlow =
            nanoseconds > CallCost.costMax + Int64(max(bytes, 0)) * CallCost.byteCost
            && nanoseconds / CallCost.ratioMin > ownCall()
        slowInARow = isSlow ? slowInARow + 1 : 0
    }

    /// Sends a byte to ourselves, and takes it.
    ///
    /// - Returns: the nanoseconds that it took; 0 where there is no descriptor for it.
    private static func ownCall() -> Int64 {
        let begin = nanoseconds(CLOCK_THREAD_CPUTIME_ID)
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { return 0 }
        let end = OwnedDescriptor(pair[0])
        let other = OwnedDescriptor(pair[1])
        var byte: UInt8 = 0
        _ = send(end.rawValue, &byte, 1, 0)
        _ = recv(other.rawValue, &byte, 1, 0)
        return nanoseconds(CLOCK_THREAD_CPUTIME_ID) - begin
    }
}
