import LinuxSystem
import Testing

/// When calls on the sockets of one account have cost too much.
@Suite("What calls on a socket cost")
struct CallCostTests {
    private static let (millisecond, second): (Int64, Int64) = (1_000_000, 1_000_000_000)

    private let cost = CallCost()

    /// - Returns: whether a call counts.
    @discardableResult
    private func took(
        _ nanoseconds: Int64, at now: Int64 = 1_000_000_000_000, bytes: Int = 1, own: Int64 = 20_000
    ) -> Bool {
        cost.took(nanoseconds, bytes: bytes, at: { now }, ownCall: { own })
    }

    @Test("a slow call each second is nothing")
    func seldom() {
        for number in 0..<Int64(1000) {
            #expect(took(10 * Self.millisecond, at: number * Self.second))
        }
        // A hundredth of the time is forgiven.
        let now = 1000 * Self.second
        #expect(!took(Self.millisecond / 4, at: now) && !cost.isTooMuch)
    }

    @Test("slow ones are too much, on whatever socket and with quick ones between")
    func often() {
        let now = Int64(MonotonicClock.now())
        for calls in 1...6 {
            #expect(took(10 * Self.millisecond, at: now))
            for _ in 0..<5 { #expect(!took(Self.millisecond / 100, at: now)) }
            #expect(cost.isTooMuch == (calls == 6))
        }
        #expect(!cost.isNothing)
    }

    @Test("what now and then passes in one of very many calls is nothing")
    func disturbances() {
        for _ in 0..<100 {
            for _ in 0..<500 { #expect(!took(Self.millisecond / 100)) }
            #expect(!took(9 * Self.millisecond))
        }
        #expect(cost.isNothing)
    }

    @Test(
        "one that takes longer than anything else explains counts, however many quick ones there were"
    )
    func excess() {
        for _ in 0..<100_000 { #expect(!took(Self.millisecond / 100)) }
        #expect(took(60 * Self.millisecond, at: Int64(MonotonicClock.now())))
        #expect(cost.isTooMuch)
    }

    @Test("what takes long on a machine where all does, or copies much, is nothing")
    func notTheirs() {
        for _ in 0..<100 {
            #expect(!took(6 * Self.millisecond, own: Self.millisecond))
            #expect(!took(3 * Self.millisecond, bytes: 65_536))
        }
        #expect(cost.isNothing)
    }

    @Test("a call's answer and its error come back")
    func answers() {
        let (count, fault, isSlow) = cost.count { 7 }
        #expect(count == 7 && fault == 0 && !isSlow)
    }
}
