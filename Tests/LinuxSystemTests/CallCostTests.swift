import LinuxSystem
import Testing

/// When calls on a socket cost too much.
@Suite("What calls on a socket cost")
struct CallCostTests {
    private static let (slow, quick): (Int64, Int64) = (6_000_000, 4_000_000)

    private static func took(
        _ nanoseconds: Int64, _ cost: inout CallCost, bytes: Int = 1, own: Int64 = 20_000
    ) {
        cost.took(nanoseconds, bytes: bytes) { own }
    }

    @Test("slow calls are nothing, as long as others are between", arguments: 1...3)
    func seldom(slow: Int) {
        var cost = CallCost()
        for _ in 0..<1000 {
            for _ in 0..<slow { Self.took(Self.slow, &cost) }
            Self.took(Self.quick, &cost)
            #expect(!cost.isTooMuch)
        }
    }

    @Test("one after the other they are too much")
    func often() {
        var cost = CallCost()
        for calls in 1...4 {
            Self.took(Self.slow, &cost)
            #expect(cost.isTooMuch == (calls == 4))
        }
    }

    @Test("what takes long on a machine where all does, or copies much, is nothing")
    func notTheirs() {
        var cost = CallCost()
        for _ in 0..<100 {
            Self.took(Self.slow, &cost, own: Self.slow / 4)
            Self.took(Self.slow, &cost, bytes: 100_000)
        }
        #expect(!cost.isTooMuch)
    }

    @Test("a call's answer and its error come back")
    func answers() {
        var cost = CallCost()
        #expect(cost.count { 7 } == (7, 0))
        #expect(!cost.isTooMuch)
    }
}
