import LinuxSystem
import Testing

@Suite("The absence of an executor")
struct ExecutorAbsenceTests {
    private static let second: Int64 = 1_000_000_000

    @Test("is too long after half a minute, which is said once, and not where nothing has ended")
    func tooLong() {
        var absence = ExecutorAbsence()
        let atFirst = absence.takesTooLong(at: 100 * Self.second)
        absence.begin(at: 100 * Self.second, hasEnded: true)
        let inTime = absence.takesTooLong(at: 130 * Self.second)
        let late = absence.takesTooLong(at: 131 * Self.second)
        let again = absence.takesTooLong(at: 132 * Self.second)
        #expect([atFirst, inTime, late, again] == [false, false, true, false])
        absence.begin(at: 200 * Self.second, hasEnded: false)
        let never = absence.takesTooLong(at: 1000 * Self.second)
        #expect(!never)
    }

    @Test("is looked at ever more rarely, and anew after its end")
    func pauses() {
        var absence = ExecutorAbsence()
        let pauses = (0..<6).map { _ in absence.nextTry(after: 0) / 1_000_000 }
        #expect(pauses == [200, 400, 800, 1600, 3000, 3000])
        absence.end()
        let next = absence.nextTry(after: Self.second)
        #expect(next == Self.second + 200_000_000)
    }
}

@Suite("The silence of an executor")
struct ExecutorSilenceTests {
    private static let second: Int64 = 1_000_000_000

    @Test("is long after five seconds without an answer, and over with the first one")
    func long() {
        var silence = ExecutorSilence()
        #expect(silence.nextDeadline == nil)
        silence.ordered(at: 10 * Self.second)
        silence.ordered(at: 12 * Self.second)
        #expect(silence.nextDeadline == 15 * Self.second)
        let early = silence.isNewlyLong(at: 14 * Self.second)
        let late = silence.isNewlyLong(at: 15 * Self.second)
        let again = silence.isNewlyLong(at: 16 * Self.second)
        #expect([early, late, again] == [false, true, false])
        #expect(silence.isLong && silence.nextDeadline == 40 * Self.second)
        let wasLong = silence.heard(isAwaited: true, at: 20 * Self.second)
        #expect(wasLong && !silence.isLong && silence.nextDeadline == 25 * Self.second)
        let isLongStill = silence.heard(isAwaited: false, at: 21 * Self.second)
        #expect(!isLongStill && silence.nextDeadline == nil)
    }

    @Test("has it looked at after half a minute whether anything needs the executor, and again")
    func useless() {
        var silence = ExecutorSilence()
        silence.ordered(at: 10 * Self.second)
        let isNotLong = silence.isToBeLookedAt(at: 100 * Self.second)
        _ = silence.isNewlyLong(at: 15 * Self.second)
        let looks = [39, 40, 41, 45].map { silence.isToBeLookedAt(at: $0 * Self.second) }
        #expect(!isNotLong && looks == [false, true, false, true])
        _ = silence.heard(isAwaited: true, at: 46 * Self.second)
        let isOver = silence.isToBeLookedAt(at: 50 * Self.second)
        #expect(!isOver && silence.nextDeadline == 51 * Self.second)
    }
}
