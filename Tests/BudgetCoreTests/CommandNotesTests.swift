import BudgetCore
import TestKit
import Testing

@Suite("What is kept with a command")
struct CommandNotesTests {
    private static func instant(_ random: inout SeededGenerator) -> Instant {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .never
        case 1: Instant(nanoseconds: Int64.random(in: 0..<10, using: &random))
        default: Instant(nanoseconds: Int64.random(in: 0..<Int64.max, using: &random))
        }
    }

    private static func notes(_ random: inout SeededGenerator) -> CommandNotes {
        let outcome = Outcome.allCases.randomElement(using: &random) ?? .overrun
        let at = Instant(nanoseconds: Int64.random(in: 0..<Int64.max, using: &random))
        let courses: [CommandNotes.Course] = [
            .goesOn, .dormant(since: at), .stops(outcome, killAt: at), .killed(outcome, since: at),
        ]
        let owner = OwnerID(rawValue: UInt32.random(in: 0...UInt32.max, using: &random))
        let reasons: [Reason?] = [
            nil, .budgetSpent, .applicationTimeSpent, .simulated, .shutdown,
            .cancelled(by: owner, text: nil), .cancelled(by: owner, text: "replaced"),
        ]
        let course = courses.randomElement(using: &random) ?? .goesOn
        var marks = CommandNotes.Marks(rawValue: UInt8.random(in: 0..<16, using: &random))
        if case .dormant = course { marks.remove(.isExpiring) }
        return CommandNotes(
            begunAt: at,
            clock: Bool.random(using: &random)
                ? .ticking(since: at) : .stopped(usedNanoseconds: at.nanoseconds),
            course: course, reason: reasons.randomElement(using: &random) ?? nil,
            ownHardAt: instant(&random), lifetimeEndsAt: instant(&random),
            handlerFiredAt: instant(&random),
            handlerFires: UInt32.random(in: 0...UInt32.max, using: &random), marks: marks)
    }

    @Test("comes back from its words as it was, and none other do")
    func words() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<Effort.choose(2000) {
            expectWordsAreItsOwn(
                Self.notes(&random), words: \.words, CommandNotes.init(words:), &random)
        }
    }

    @Test("of whatever kind, and at whatever time, lets a task end once")
    func anything() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<Effort.choose(1000) {
            var notes: CommandNotes? = Self.notes(&random)
            if Bool.random(using: &random), var words = notes?.words {
                for _ in 0..<3 {
                    words[Int.random(in: 0..<8, using: &random)] ^=
                        1 << UInt64.random(in: 0..<64, using: &random)
                }
                notes = CommandNotes(words: words)
            }
            var clerk = CommandTests.clerk()
            let now = Self.instant(&random)
            clerk.now = now == .never ? Instant(nanoseconds: .max - 1) : now
            var task = RestoredTask(7, Clerk.submission(), begunAt: Self.instant(&random))
            if Bool.random(using: &random) { task.budget = nil }
            let command = FoundCommand(
                attempt: 1, isRunning: Bool.random(using: &random),
                handlerRuns: Bool.random(using: &random), notes: notes,
                handlerAt: Self.instant(&random), limitAt: Self.instant(&random))
            clerk.call { $0.restore([task], found: [task.id: command], at: $1, &$2) }
            let moment = Self.instant(&random)
            clerk.call { $0.deadlineReached(at: $1, limit: 3, &$2) }
            _ = clerk.deadlines(task.id)?.notes.words
            clerk.call { $0.commandWarned(task.id, count: 1, moment: moment, at: $1, &$2) }
            _ = try? clerk.extend(task.id)
            clerk.call { $0.commandLimitReached(task.id, moment: moment, at: $1, &$2) }
            clerk.call { $0.mainExited(task.id, .status(0), moment: moment, at: $1, &$2) }
            clerk.call { $0.handlerExited(task.id, at: $1, &$2) }
            clerk.call { $0.processesGone(task.id, moment: moment, at: $1, &$2) }
            #expect(clerk.count(.ended, task.id) == 1)
        }
    }
}
