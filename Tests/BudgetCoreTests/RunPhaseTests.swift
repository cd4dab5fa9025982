import BudgetCore
import Testing

@Suite("The phases of a run task: the whole table of what can follow what")
struct RunPhaseTests {
    /// A line a phase, a column an event: the phase after it, `=` where it comes too late to change anything,
    /// `.` where it cannot happen.
    ///
    /// Phases: sq submitting, sn submitting with a slot, re restored, wa waiting, st starting, la launching,
    /// lh launching beside the handler's command, ru running, rh running beside it, ou outlived, sp stopping,
    /// rp reaping, W. withdrawing from that phase, ra recordingAttempt, rc recordingAttempt with an order to cancel,
    /// rd recordingEnd, en ended.
    ///
    /// Events: ad admitted, ss startStored, sN startNotStored, wN withdrawalNotStored, ar attemptRecorded,
    /// aN attemptNotRecorded, er endRecorded, ba retryBanAnswered; sl slotTaken, ns notStarted, lo lost, fo found;
    /// go started, sf startFailed, me mainExited, hl handlerLaunched, he handlerExited, pg processesGone;
    /// wd withdrawn, sd stopped, cb cancelledBetween, ov overran, rf retryForbidden, gu givenUp.
    static let table = """
        .. ad ss sN wN ar aN er ba sl ns lo fo go sf me hl he pg wd sd cb ov rf gu
        sq wa .  .  .  .  .  .  .  .  .  .  .  =  =  =  .  =  =  Wq .  .  .  .  .
        sn .  la .  .  .  .  .  .  .  .  .  .  =  =  =  .  =  =  Wn .  .  .  .  .
        re wa .  .  .  =  =  .  .  .  .  rd ru =  =  =  .  =  =  .  .  .  .  .  .
        wa .  .  .  .  =  =  .  .  st .  rd .  =  =  =  .  =  =  Ww .  .  .  .  .
        st .  la wa .  =  =  .  .  .  .  .  .  =  =  =  .  =  =  Ws .  .  .  .  .
        la .  .  .  .  =  =  .  .  .  wa rd .  ru rd rp lh =  =  .  sp .  sp .  .
        lh .  .  .  .  =  =  .  .  .  wa rd .  rh rd ou =  la =  .  sp .  sp .  .
        ru .  .  .  .  =  =  .  .  .  .  rd .  =  =  rp rh =  =  .  sp .  sp .  .
        rh .  .  .  .  =  =  .  .  .  .  rd .  =  =  ou =  ru =  .  sp .  sp .  .
        ou .  .  .  .  =  =  .  .  .  .  rd .  =  =  =  =  rp rd .  rp .  rp .  .
        sp .  .  .  .  =  =  .  sp .  .  rd .  sp rd rp .  =  =  .  .  .  .  sp rd
        rp .  .  .  .  =  =  .  rp .  .  rd .  =  =  =  .  rp rd .  .  .  .  rp rd
        Wq Ww .  .  .  .  .  en .  .  .  .  .  =  =  =  .  =  =  .  .  .  .  .  .
        Wn .  Wl .  .  .  .  en .  .  .  .  .  =  =  =  .  =  =  .  .  .  .  .  .
        Ww .  .  .  wa =  =  en .  .  .  .  .  =  =  =  .  =  =  .  .  .  .  .  .
        Ws .  Wl Ww .  =  =  en .  .  .  .  .  =  =  =  .  =  =  .  .  .  .  .  .
        Wl .  .  .  la =  =  en .  .  .  .  .  =  =  =  .  =  =  .  .  .  .  .  .
        ra .  .  .  .  wa ra .  .  .  .  .  .  =  =  =  .  =  =  .  .  rc .  .  .
        rc .  .  .  .  wa ra .  .  .  .  .  .  =  =  =  .  =  =  .  .  rc .  .  .
        rd .  .  .  .  =  =  en =  .  .  .  .  =  =  =  .  =  =  .  .  .  .  .  .
        en .  .  .  .  =  =  .  =  .  .  .  .  =  =  =  .  =  =  .  .  .  .  .  .
        """

    static let conclusion = conclusion(retryDelay: nil)
    static let teardown = Teardown(.overrun, [.killAll])
    static let reason = Reason.cancelled(by: .root, text: "enough")

    static func conclusion(_ outcome: Outcome = .failed, retryDelay: Duration?) -> Conclusion {
        Conclusion(
            outcome: outcome, reason: nil, endedAt: Instant(nanoseconds: 5),
            endedAtBoot: BootInstant(nanoseconds: 7), retryDelay: retryDelay, wasStuck: false)
    }

    static let phases: [RunPhase] = [
        .submitting(startsAtOnce: false), .submitting(startsAtOnce: true), .restored, .waiting,
        .starting, .launching(hasHandler: false), .launching(hasHandler: true),
        .running(hasHandler: false), .running(hasHandler: true), .outlived(.completed),
        .stopping(teardown), .reaping(teardown),
        .withdrawing(conclusion, from: .submitting(startsAtOnce: false)),
        .withdrawing(conclusion, from: .submitting(startsAtOnce: true)),
        .withdrawing(conclusion, from: .waiting), .withdrawing(conclusion, from: .starting),
        .withdrawing(conclusion, from: .launching(hasHandler: false)),
        .recordingAttempt(conclusion, cancelledBy: nil),
        .recordingAttempt(conclusion, cancelledBy: reason), .recordingEnd(conclusion),
        .ended(conclusion),
    ]

    static func events(_ conclusion: Conclusion) -> [RunEvent] {
        [
            .admitted, .startStored, .startNotStored, .withdrawalNotStored, .attemptRecorded,
            .attemptNotRecorded, .endRecorded, .retryBanAnswered, .slotTaken, .notStarted,
            .lost(conclusion), .found(.running(hasHandler: false)), .started,
            .startFailed(conclusion), .mainExited(.completed),
            .handlerLaunched, .handlerExited, .processesGone(conclusion), .withdrawn(conclusion),
            .stopped(
                Teardown(.cancelled, TeardownStep.cancellation(by: .terminate, grace: .seconds(5)))),
            .cancelledBetween(reason), .overran(teardown), .retryForbidden(isOrdered: true),
            .givenUp(conclusion),
        ]
    }

    /// The name of a phase in the table. A new case is missed here by the compiler, and then in the table.
    static func name(_ phase: RunPhase) -> String {
        switch phase {
        case .submitting(let startsAtOnce): startsAtOnce ? "sn" : "sq"
        case .restored: "re"
        case .waiting: "wa"
        case .starting: "st"
        case .launching(let hasHandler): hasHandler ? "lh" : "la"
        case .running(let hasHandler): hasHandler ? "rh" : "ru"
        case .outlived: "ou"
        case .stopping: "sp"
        case .reaping: "rp"
        case .withdrawing(_, let phase):
            switch phase {
            case .submitting(startsAtOnce: false): "Wq"
            case .submitting(startsAtOnce: true): "Wn"
            case .waiting: "Ww"
            case .starting: "Ws"
            case .launching(hasHandler: false): "Wl"
            default: "W?"
            }
        case .recordingAttempt(_, let cancelledBy): cancelledBy == nil ? "ra" : "rc"
        case .recordingEnd: "rd"
        case .ended: "en"
        }
    }

    static func column(_ event: RunEvent) -> String {
        switch event {
        case .admitted: "ad"
        case .startStored: "ss"
        case .startNotStored: "sN"
        case .withdrawalNotStored: "wN"
        case .attemptRecorded: "ar"
        case .attemptNotRecorded: "aN"
        case .endRecorded: "er"
        case .retryBanAnswered: "ba"
        case .slotTaken: "sl"
        case .notStarted: "ns"
        case .lost: "lo"
        case .found: "fo"
        case .started: "go"
        case .startFailed: "sf"
        case .mainExited: "me"
        case .handlerLaunched: "hl"
        case .handlerExited: "he"
        case .processesGone: "pg"
        case .withdrawn: "wd"
        case .stopped: "sd"
        case .cancelledBetween: "cb"
        case .overran: "ov"
        case .retryForbidden: "rf"
        case .givenUp: "gu"
        }
    }

    static func cell(_ phase: RunPhase, _ event: RunEvent) -> String {
        switch phase.next(on: event) {
        case .goes(let next): name(next)
        case .stays: "="
        case nil: "."
        }
    }

    @Test("each phase and event leads where the table says, and no other pair leads anywhere")
    func everyCell() {
        let lines = Self.table.split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
        let columns = Array(lines[0].dropFirst())
        let events = Self.events(Self.conclusion)
        #expect(columns == events.map(Self.column))
        #expect(lines.dropFirst().map { $0[0] } == Self.phases.map(Self.name))
        #expect(Set(columns).count == 24 && Set(Self.phases.map(Self.name)).count == 21)
        for (phase, line) in zip(Self.phases, lines.dropFirst()) {
            #expect(line.count == columns.count + 1)
            for (event, expected) in zip(events, line.dropFirst()) {
                let found = Self.cell(phase, event)
                #expect(found == expected, "\(Self.name(phase)) on \(Self.column(event))")
            }
        }
    }

    @Test("where an end would be recorded, an attempt is that another follows")
    func attempts() {
        let last = Self.events(Self.conclusion)
        let retried = Self.events(Self.conclusion(retryDelay: .seconds(30)))
        for phase in Self.phases {
            for (one, other) in zip(last, retried) {
                let expected = Self.cell(phase, one)
                let isEnd = expected == "rd"
                #expect(Self.cell(phase, other) == (isEnd ? "ra" : expected))
            }
        }
    }

    @Test("a phase that counts as nothing has its conclusion, and only such a one")
    func conclusions() {
        for phase in Self.phases {
            #expect((phase.conclusion != nil) == (phase.tally == .nothing))
            #expect(phase.isConcluded == (phase.tally == .nothing))
            #expect(!phase.isStopping || phase.tally == .live)
            // What counts as live has a slot; what is queued has none.
            if phase.tally != .nothing { #expect(phase.hasSlot == (phase.tally == .live)) }
        }
    }

    @Test(
        "the exit of the main process begins to kill the others, and keeps since when they are killed"
    )
    func exitWhileStopping() throws {
        var teardown = Self.teardown
        let killedAt = Instant(nanoseconds: 1_000)
        let first = teardown.takeStep(at: killedAt, stuckAfter: .seconds(600), isDraining: false)
        #expect(first?.order == .killAll && first?.elapsed == .zero)
        let step = RunPhase.stopping(teardown).next(on: .mainExited(.expired))
        guard case .goes(.reaping(var after)) = step else {
            Issue.record("\(String(describing: step))")
            return
        }
        #expect(after.outcome == .expired && after.nextStepAt == .never)
        let later = killedAt + .seconds(3)
        let next = after.takeStep(at: later, stuckAfter: .seconds(600), isDraining: false)
        #expect(next?.order == .killAll && next?.elapsed == .seconds(3))
    }

    @Test("at the hard limit the outcome stays that the exit of the main process decided")
    func overrunOfHandler() {
        let step = RunPhase.outlived(.completed).next(on: .overran(Self.teardown))
        #expect(step == .goes(to: .reaping(Teardown(.completed, [.killAll]))))
    }

    @Test("an order that it is not tried again stays taken once the disk has answered")
    func retryBan() {
        let banned = RunPhase.reaping(Self.teardown)
            .next(on: .retryForbidden(isOrdered: true))
        guard case .goes(let ordered) = banned,
            case .goes(let taken) = ordered.next(on: .retryBanAnswered)
        else {
            Issue.record("\(String(describing: banned))")
            return
        }
        #expect(RunPhase.reaping(Self.teardown).mayBeTriedAgain)
        #expect(ordered.teardown?.retryBan == .ordered && !ordered.mayBeTriedAgain)
        #expect(taken.teardown?.retryBan == .taken && !taken.mayBeTriedAgain)
        // One more order, of which nothing is to be written, leaves the first on its way.
        #expect(ordered.next(on: .retryForbidden(isOrdered: false)) == .goes(to: ordered))
    }

    @Test("a withdrawal that the disk does not take leaves the task where it was meanwhile")
    func withdrawal() {
        let phase = RunPhase.withdrawing(Self.conclusion, from: .starting)
        #expect(phase.hasSlot && phase.isAdmitted && !phase.isArriving)
        guard case .goes(let launched) = phase.next(on: .startStored),
            case .goes(let undone) = phase.next(on: .startNotStored)
        else {
            Issue.record("the disk's answer has no effect")
            return
        }
        #expect(launched.hasSlot && !undone.hasSlot)
        #expect(launched.next(on: .withdrawalNotStored) == .goes(to: .launching(hasHandler: false)))
        #expect(undone.next(on: .withdrawalNotStored) == .goes(to: .waiting))
    }
}
