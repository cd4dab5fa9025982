import BudgetCore
import TestKit
import Testing

@Suite("What is kept with the command of an application")
struct ApplicationNotesTests {
    private static func number(_ random: inout SeededGenerator) -> Int64 {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: Int64.random(in: 0..<10, using: &random)
        default: Int64.random(in: 0..<Int64.max, using: &random)
        }
    }

    private static func notes(_ random: inout SeededGenerator) -> ApplicationNotes {
        let reason = TerminationReason.allCases.randomElement(using: &random) ?? .exited
        let isLimited = Bool.random(using: &random)
        let ends = ApplicationNotes.Course.ends(
            reason, killAt: Instant(nanoseconds: number(&random)),
            background: isLimited ? .nanoseconds(number(&random)) : nil)
        let places: [(ApplicationState, ApplicationNotes.Course)] = [
            (.notRunning, .starts), (.inactive, .goesOn), (.active, .goesOn),
            (.background, .goesOn), (.background, .freezes), (.suspended, .frozen),
            (.suspended, .thaws), (.background, .thaws), (.active, ends), (.suspended, ends),
            (.notRunning, ends),
        ]
        let (state, course) = places.randomElement(using: &random) ?? (.active, .goesOn)
        let isAway = state == .background || state == .suspended
        return ApplicationNotes(
            state: state, course: course, comesToFront: Bool.random(using: &random),
            stay: BackgroundStay(
                since: isAway ? BootInstant(nanoseconds: number(&random)) : nil,
                until: isLimited ? Instant(nanoseconds: number(&random)) : .never,
                isToldOfExpiry: Bool.random(using: &random),
                isOverrunNoted: Bool.random(using: &random)),
            wouldBeSuspended: Bool.random(using: &random),
            lastUse: UInt64(number(&random)), numberLast: UInt64(number(&random)))
    }

    @Test("comes back from its words as it was, and none other do")
    func words() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<Effort.choose(2000) {
            expectWordsAreItsOwn(
                Self.notes(&random), words: \.words, ApplicationNotes.init(words:), &random)
        }
    }

    @Test("of whatever kind, and at whatever time, lets an application end once")
    func anything() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<Effort.choose(500) {
            let notes = Self.notes(&random)
            var stage = Stage()
            stage.clerk.now = Instant(nanoseconds: Self.number(&random) / 2)
            var record = ApplicationRecord(registration: Registration(command: ["maps"]))
            (record.isRunning, record.run) = (true, 7)
            let found = FoundApplication(
                hasStarted: Bool.random(using: &random), isFrozen: Bool.random(using: &random),
                notes: notes)
            stage.call {
                $0.restore(
                    applications: [(key: Stage.maps, record: record)], running: [7: found],
                    frozen: [], at: $1, &$2)
            }
            stage.pass(.seconds(400))
            stage.call { $0.applicationExited(Stage.maps, .status(0), at: $1, &$2) }
            stage.call { $0.applicationGone(Stage.maps, at: $1, &$2) }
            #expect(stage.state() == .notRunning && stage.last() != nil)
            #expect(stage.clerk.registry.runningApplicationCount == 0)
            try stage.launch()
            #expect(stage.state() == .active)
            #expect(stage.application()?.record.run ?? 0 > 7)
        }
    }
}
