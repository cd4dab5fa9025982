internal import Glibc

/// What calls on the sockets of one account cost this thread beyond what they should: a message that is sent or taken wakes all
/// that poll the other end, one after the other and in the thread that sends or takes it, and a user may have millions of them
/// (epoll(7), max_user_watches).
///
/// On a machine that is short of memory or of processor time any call may take long. So one counts where a call of our own
/// after it was quick. And some milliseconds may pass in any call that have nothing to do with it: interrupts are served in it, or
/// a virtual machine stands still. That is in proportion to the time that all calls take, so twice what quick ones took is
/// forgiven. Whoever makes use of that has to have many more calls answered than cost anything.
package final class CallCost {
    /// Nanoseconds of a call that are nothing, and of each byte that it copies.
    private static let (costMax, byteCost): (Int64, Int64) = (500_000, 50)
    /// How many times as long as one of our own.
    private static let ratioMin: Int64 = 8
    /// Nanoseconds that are too much, and those in which one is forgotten.
    private static let (levelMax, forgetting): (Int64, Int64) = (50_000_000, 100)
    /// Nanoseconds that may pass in any call, and how many are forgiven at once.
    private static let (disturbanceMax, allowanceMax): (Int64, Int64) = (20_000_000, 50_000_000)

    /// What was counted and is not forgotten.
    private var level: Int64 = 0
    private var countedAt: Int64 = 0
    /// What is forgiven.
    private var allowance: Int64 = 0

    package init() {}

    /// Whether this account has cost so much of late that nothing more should be done for it that may.
    package var isTooMuch: Bool {
        level > CallCost.levelMax && level(at: Self.now()) > CallCost.levelMax
    }

    /// Whether all is forgotten.
    package var isNothing: Bool { level == 0 || level(at: Self.now()) == 0 }

    /// Makes a call that returns how many bytes it has copied.
    ///
    /// - Returns: what it returns, where that is negative its errno, and whether it has cost too much.
    package func count(_ call: () -> Int) -> (count: Int, errno: Int32, isSlow: Bool) {
        // What others did meanwhile does not count.
        let begin = Self.computed()
        let count = call()
        let fault = count < 0 ? errno : 0
        let took = Self.computed() - begin
        return (count, fault, self.took(took, bytes: count, at: Self.now, ownCall: Self.ownCall))
    }

    /// A call took so many nanoseconds.
    ///
    /// - Parameters:
    ///   - clock: tells the nanoseconds of one that goes on.
    ///   - ownCall: makes one on a socket of our own, and tells the nanoseconds that it took.
    /// - Returns: whether it counts.
    package func took(
        _ nanoseconds: Int64, bytes: Int, at clock: () -> Int64, ownCall: () -> Int64
    ) -> Bool {
        guard nanoseconds > CallCost.costMax + Int64(max(bytes, 0)) * CallCost.byteCost else {
            allowance = min(allowance + nanoseconds * 2, CallCost.allowanceMax)
            return false
        }
        guard nanoseconds / CallCost.ratioMin > ownCall() else { return false }
        let forgiven = nanoseconds < CallCost.disturbanceMax ? min(allowance, nanoseconds) : 0
        allowance -= forgiven
        guard nanoseconds > forgiven else { return false }
        let now = clock()
        level = level(at: now) + nanoseconds - forgiven
        countedAt = now
        return true
    }

    private func level(at now: Int64) -> Int64 {
        max(level - max(now - countedAt, 0) / CallCost.forgetting, 0)
    }

    private static func now() -> Int64 { nanoseconds(CLOCK_MONOTONIC) }
    private static func computed() -> Int64 { nanoseconds(CLOCK_THREAD_CPUTIME_ID) }

    /// Sends a byte to ourselves, and takes it.
    ///
    /// - Returns: the nanoseconds that it took; 0 where there is no descriptor for it.
    private static func ownCall() -> Int64 {
        let begin = computed()
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { return 0 }
        let end = OwnedDescriptor(pair[0])
        let other = OwnedDescriptor(pair[1])
        var byte: UInt8 = 0
        _ = send(end.rawValue, &byte, 1, 0)
        _ = recv(other.rawValue, &byte, 1, 0)
        return computed() - begin
    }
}
