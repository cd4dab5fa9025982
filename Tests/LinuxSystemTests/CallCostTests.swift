import LinuxSystem
import Testing

/// When calls on a socket cost too much.
@Suite("What calls on a socket cost")
struct CallCostTests {
    private static let (slow, quick): (Int64, Int64) = (6_000_000, 4_000_000)

    @Test("some slow calls are nothing, as long as there are others", arguments: [10, 100])
    func seldom(others: Int) {
        var cost = CallCost()
        for _ in 0..<1000 {
            cost.took(Self.slow)
            for _ in 0..<others { cost.took(Self.quick) }
            #expect(!cost.isTooMuch)
        }
    }

    @Test("one after the other they are too much, and with a few others between", arguments: 0...5)
    func often(others: Int) {
        var cost = CallCost()
        var calls = 0
        while !cost.isTooMuch, calls < 100 {
            cost.took(Self.slow)
            calls += 1
            if cost.isTooMuch { break }
            for _ in 0..<others { cost.took(Self.quick) }
        }
        #expect(cost.isTooMuch && (3...6).contains(calls))
    }

    @Test("a call's answer and its error come back")
    func answers() {
        var cost = CallCost()
        #expect(cost.count { 7 } == (7, 0))
        #expect(!cost.isTooMuch)
    }
}
