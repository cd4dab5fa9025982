import LinuxSystem
import Testing

@Suite("Limits that an executor lets pass")
struct OverdueLimitsTests {
    private static let second: UInt64 = 1_000_000_000

    /// Looks at a moment in milliseconds; limits are in seconds.
    private static func look(
        _ limits: inout OverdueLimits, at now: Int64, _ all: [UInt64: UInt64]
    ) -> [UInt64] {
        limits.takeOverdue(
            of: all.map { (command: $0.key, limitAt: $0.value * second) }, at: now * 1_000_000)
    }

    /// When the next look is due, in milliseconds.
    private static func next(_ limits: OverdueLimits) -> Int64? {
        limits.nextDeadline.map { $0 / 1_000_000 }
    }

    @Test("are looked at a second later, and told until they are done with")
    func overdue() {
        var limits = OverdueLimits()
        limits.note(limitAt: 0)
        #expect(limits.nextDeadline == nil)
        limits.note(limitAt: 20 * Self.second)
        limits.note(limitAt: 10 * Self.second)
        #expect(Self.next(limits) == 11_250)
        let early = Self.look(&limits, at: 11_000, [1: 10, 2: 20])
        #expect(early == [] && Self.next(limits) == 11_250)
        let late = Self.look(&limits, at: 11_250, [3: 10, 1: 10, 2: 20, 4: 0])
        #expect(late == [1, 3] && Self.next(limits) == 12_250)
        let rest = Self.look(&limits, at: 12_250, [2: 20])
        #expect(rest == [] && Self.next(limits) == 21_250)
    }

    @Test("say nothing where this process was held up itself, and are looked at again")
    func late() {
        var limits = OverdueLimits()
        limits.note(limitAt: 10 * Self.second)
        let first = Self.look(&limits, at: 12_000, [1: 10])
        #expect(first == [] && Self.next(limits) == 13_000)
        let second = Self.look(&limits, at: 13_000, [1: 10])
        #expect(second == [1])
    }

    @Test("of what was to have ended long ago are seen a second after that was said")
    func past() {
        var limits = OverdueLimits()
        limits.note(limitAt: 1)
        let first = Self.look(&limits, at: 100_000, [1: 1])
        let second = Self.look(&limits, at: 101_000, [1: 1])
        #expect(first == [] && second == [1])
    }

    @Test("are none where a limit is beyond all time")
    func bounds() {
        var limits = OverdueLimits()
        limits.note(limitAt: .max)
        #expect(limits.nextDeadline == nil)
    }
}
