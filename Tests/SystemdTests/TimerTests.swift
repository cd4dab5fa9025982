import Systemd
import Testing

@Suite("Timers of the event loop")
struct TimerTests {
    @Test("a timer never fires early, whatever the ns of its instant")
    func timerIsNeverEarly() throws {
        let loop = try EventLoop()
        var fired = 0
        var instant: UInt64 = 0
        var arm: () throws -> Void = {}
        let timer = try loop.addTimer {
            #expect(EventLoop.monotonicNanoseconds() >= instant)
            fired += 1
            if fired == 200 { loop.exit(0) } else { try arm() }
        }
        arm = {
            instant = EventLoop.monotonicNanoseconds() + 50_000 + UInt64(fired) * 7
            try timer.arm(atNanoseconds: instant)
        }
        try arm()
        #expect(try loop.runBounded() == 0)
        #expect(fired == 200)
        arm = {}
    }

    @Test("an instant becomes the first µs that is not before it")
    func roundsUp() {
        let instants: [UInt64] = [0, 1, 999, 1_000, 1_001, UInt64.max]
        #expect(
            instants.map(TimerSource.microseconds(roundingUp:)) == [
                0, 1, 1, 1, 2, 18_446_744_073_709_552,
            ]
        )
    }

    @Test("a timer fires once, and for a past instant at once")
    func timerIsOneShot() throws {
        let loop = try EventLoop()
        var fired = 0
        let timer = try loop.addTimer { fired += 1 }
        try timer.arm(atNanoseconds: 1)
        let end = try loop.addTimer(priority: .background) { loop.exit(3) }
        try end.arm(atNanoseconds: EventLoop.monotonicNanoseconds() + 2_000_000)
        #expect(try loop.runBounded() == 3)
        #expect(fired == 1)
    }

    @Test("an armed timer moves to the instant it was armed for last, later or earlier")
    func timerMoves() throws {
        let loop = try EventLoop()
        let hour: UInt64 = 3_600_000_000_000
        var fired = 0
        let later = try loop.addTimer { throw HandlerFailed() }
        let earlier = try loop.addTimer { fired += 1 }
        try later.arm(atNanoseconds: 1_000)
        try later.arm(atNanoseconds: EventLoop.monotonicNanoseconds() + hour)
        try earlier.arm(atNanoseconds: EventLoop.monotonicNanoseconds() + hour)
        try earlier.arm(atNanoseconds: 1_000)
        let end = try loop.addTimer(priority: .background) { loop.exit(0) }
        try end.arm(atNanoseconds: 1_000)
        #expect(try loop.runBounded() == 0)
        #expect(fired == 1)
    }

    @Test("a timer that may fire before moves to earlier only")
    func timerMovesNoLater() throws {
        let loop = try EventLoop()
        let hour: UInt64 = 3_600_000_000_000
        var fired: [String] = []
        let stays = try loop.addTimer { fired.append("stays") }
        let moves = try loop.addTimer { fired.append("moves") }
        try stays.arm(noLaterThanNanoseconds: 1_000)
        try stays.arm(noLaterThanNanoseconds: EventLoop.monotonicNanoseconds() + hour)
        try moves.arm(noLaterThanNanoseconds: EventLoop.monotonicNanoseconds() + hour)
        try moves.arm(noLaterThanNanoseconds: 1_001)
        let end = try loop.addTimer(priority: .background) { loop.exit(0) }
        try end.arm(atNanoseconds: 1_002)
        #expect(try loop.runBounded() == 0)
        #expect(fired.sorted() == ["moves", "stays"])
    }

    @Test("a disarmed timer does not fire, and fires when armed again to the same instant")
    func timerIsDisarmed() throws {
        let loop = try EventLoop()
        var fired: [String] = []
        let stopped = try loop.addTimer { fired.append("stopped") }
        let again = try loop.addTimer { fired.append("again") }
        try stopped.arm(atNanoseconds: 1_000)
        try again.arm(atNanoseconds: 1_000)
        stopped.disarm()
        again.disarm()
        try again.arm(atNanoseconds: 1_000)
        let end = try loop.addTimer(priority: .background) { loop.exit(0) }
        try end.arm(atNanoseconds: 1_000)
        #expect(try loop.runBounded() == 0)
        #expect(fired == ["again"])
    }

    @Test("an infinite instant is accepted and never comes")
    func timerIsInfinite() throws {
        let loop = try EventLoop()
        let timer = try loop.addTimer { throw HandlerFailed() }
        try timer.arm(atNanoseconds: UInt64.max)
        try loop.addDefer(priority: .background) { loop.exit(0) }
        #expect(try loop.runBounded() == 0)
    }
}
