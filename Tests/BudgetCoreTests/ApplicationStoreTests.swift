import BudgetCore
import Testing

@Suite("Applications and the disk")
struct ApplicationStoreTests {
    private static let full = Refusal.notAccepting("the disk is full")

    @Test("a registration is answered, and known, when it is on disk")
    func registerIsStored() throws {
        var stage = Stage()
        stage.clerk.disk = .waits
        try stage.register()
        #expect(stage.application() == nil)
        #expect(throws: Refusal.noSuchApplication("maps")) { try stage.launch() }
        #expect(stage.replies[1] == nil)
        finish(&stage, isStored: true)
        #expect(stage.replies[1] == [nil])
        #expect(stage.state() == .notRunning)
    }

    /// The disk answers all that waits for it.
    private func finish(_ stage: inout Stage, isStored: Bool) {
        let steps = stage.clerk.steps
        stage.clerk.steps = []
        stage.call { registry, now, actions in
            for step in steps {
                if isStored {
                    registry.stored(step, at: now, &actions)
                } else {
                    registry.notStored(step, "the disk is full", at: now, &actions)
                }
            }
        }
    }

    @Test("a registration that the disk does not take never was; the next is refused up front")
    func registerNotStored() throws {
        var stage = Stage()
        stage.clerk.disk = .fails
        try stage.register()
        #expect(stage.replies[1] == [Self.full])
        #expect(stage.application() == nil)
        #expect(stage.clerk.registry.applications.keys.isEmpty)
        #expect(throws: Self.full) { try stage.register() }
        #expect(throws: Self.full) { try stage.adopt() }
        #expect(stage.clerk.registry.applications.keys.isEmpty)
        stage.clerk.disk = .writes
        stage.clerk.heal()
        try stage.register()
        #expect(stage.state() == .notRunning)
    }

    @Test(
        "new settings that the disk does not take are taken back, and the badge of a message is not"
    )
    func settingsNotStored() throws {
        var stage = Stage()
        try stage.register { $0.directory = "/old" }
        stage.clerk.disk = .waits
        try stage.push(PushMessage(kind: .alert), badge: 3)
        try stage.register { $0.directory = "/new" }
        #expect(stage.application()?.registration.directory == "/new")
        _ = stage.take()
        finish(&stage, isStored: false)
        #expect(stage.replies[stage.callLast] == [Self.full])
        #expect(stage.application()?.registration.directory == "/old")
        #expect(stage.application()?.record.badge == 3)
        #expect(stage.take() == [])
        stage.clerk.disk = .writes
        stage.clerk.ordered = []
        stage.clerk.heal()
        #expect(stage.clerk.ordered == [.applicationSaved(Stage.maps)])
        #expect(stage.application()?.saved?.badge == 3)
    }

    @Test("a badge that the disk does not take is taken back, and that is told")
    func badgeNotStored() throws {
        var stage = Stage()
        try stage.register()
        stage.clerk.disk = .fails
        let waits = try stage.call { registry, _, actions in
            try registry.setBadge(Stage.maps, 5, number: 77, &actions)
        }
        #expect(waits && stage.replies[77] == [Self.full])
        #expect(stage.take() == ["badgeChanged 5", "badgeChanged 0"])
        #expect(throws: Self.full) {
            try stage.call { registry, _, actions in
                try registry.setBadge(Stage.maps, 6, number: 78, &actions)
            }
        }
    }

    @Test(
        "of two orders on their way the first is refused and the second stored: memory is as the disk"
    )
    func mixedAnswers() throws {
        var stage = Stage()
        try stage.register { $0.directory = "/0" }
        stage.clerk.disk = .waits
        try stage.register { $0.directory = "/1" }
        try stage.register { $0.directory = "/2" }
        stage.clerk.steps.removeAll()
        let step = StoreStep.applicationSaved(Stage.maps)
        stage.call { $0.notStored(step, "the disk is full", at: $1, &$2) }
        stage.call { $0.stored(step, at: $1, &$2) }
        #expect(stage.replies[2] == [Self.full] && stage.replies[3] == [nil])
        #expect(stage.application()?.registration.directory == "/2")
        #expect(stage.application()?.saved == stage.application()?.record)
    }

    @Test("how an application ended is told, asked for and answered when the disk has it")
    func endIsStored() throws {
        var stage = Stage()
        stage.showsNotes = true
        try stage.register()
        try stage.launch()
        try stage.home()
        let task = try stage.begin("upload")
        _ = stage.take()
        stage.clerk.disk = .waits
        try stage.play([.crash])
        let call = try stage.terminate()
        // It is killed, and nobody learns that it is over: a crash of the daemon would say otherwise.
        #expect(stage.take() == ["kill"])
        #expect(stage.state() == .background)
        #expect(stage.last() == nil)
        #expect(stage.replies[call] == nil)
        let rules = try stage.clerk.registry.explain(Stage.maps, at: stage.clerk.now).map(\.rule)
        #expect(rules == ["end"])
        #expect(throws: Refusal.wrongState("maps", .background)) { try stage.launch() }
        // Its processes are gone, and a stop waits for the disk alone; its task has its own time.
        #expect(stage.clerk.registry.runningApplicationCount == 0)
        #expect(stage.clerk.remaining(task)?.bound == .ownBudget)
        // What comes meanwhile goes behind it.
        _ = try stage.push(PushMessage(kind: .alert), badge: 4)
        #expect(stage.take() == ["badgeChanged 4"])

        finish(&stage, isStored: true)
        #expect(stage.take() == ["(notRunning)", "note: \(ApplicationNote.ended(.crashed))"])
        #expect(stage.state() == .notRunning)
        #expect(stage.last()?.reason == .crashed)
        #expect(stage.last()?.held.map(\.name) == ["upload"])
        #expect(stage.replies[call] == [nil])
        stage.clerk.disk = .writes
        try stage.launch()
    }

    @Test(
        "that an application could not be started is answered when the disk knows that it does not run"
    )
    func failedStartIsStored() throws {
        var stage = Stage()
        stage.showsNotes = true
        try stage.register()
        stage.held = [.start]
        let call = try stage.launch()
        _ = stage.take()
        stage.clerk.disk = .waits
        try stage.play([.notStarted])
        #expect(stage.take() == [])
        #expect(stage.replies[call] == nil)
        finish(&stage, isStored: true)
        #expect(stage.take().count == 1)
        #expect(stage.replies[call] == [.cannotStart("maps", "no such file")])
        #expect(stage.application()?.saved?.isRunning == false)
    }

    @Test("the record of an end that the disk does not take is written when it heals")
    func terminationSavedAgain() throws {
        var stage = Stage()
        try stage.register()
        try stage.launch()
        stage.clerk.disk = .fails
        try stage.play([.crash])
        #expect(stage.last()?.reason == .crashed)
        #expect(stage.application()?.saved?.isRunning == true)
        stage.clerk.heal()
        #expect(stage.application()?.saved?.isRunning == true)
        stage.clerk.disk = .writes
        stage.clerk.ordered = []
        stage.clerk.heal()
        #expect(stage.clerk.ordered == [.applicationSaved(Stage.maps)])
        #expect(stage.application()?.saved == stage.application()?.record)
        #expect(stage.application()?.saved?.lastTermination?.reason == .crashed)
        stage.clerk.ordered = []
        stage.clerk.call { $0.notStored(.startUndone(.invalid), "once more", at: $1, &$2) }
        stage.clerk.heal()
        #expect(stage.clerk.ordered == [])
    }

    @Test("an adoption waits for the disk, and is released where that does not take it")
    func adoption() throws {
        for (isStored, isRegistered) in [
            (true, true), (true, false), (false, true), (false, false),
        ] {
            var stage = Stage()
            if isRegistered { try stage.register() }
            stage.clerk.disk = .waits
            let call = try stage.adopt()
            #expect(stage.take() == [])
            #expect(stage.replies[call] == nil)
            finish(&stage, isStored: isStored)
            #expect(stage.take() == (isStored ? ["didBecomeActive"] : ["release"]))
            #expect(stage.replies[call] == [isStored ? nil : Self.full])
            let state: ApplicationState? = isStored ? .active : isRegistered ? .notRunning : nil
            #expect(stage.state() == state)
            #expect(stage.clerk.registry.runningApplicationCount == (isStored ? 1 : 0))
            #expect(
                stage.application()?.record.units.count == (isStored ? 1 : state.map { _ in 0 }))
        }
    }

    @Test("adopted processes that are gone before the disk answers are adopted by nobody")
    func adoptedAndGone() throws {
        var stage = Stage()
        stage.clerk.disk = .waits
        let call = try stage.adopt()
        try stage.play([.gone])
        finish(&stage, isStored: true)
        finish(&stage, isStored: true)
        #expect(stage.replies[call] == [.wrongState("maps", .notRunning)])
        #expect(stage.clerk.registry.runningApplicationCount == 0)
        #expect(stage.application()?.saved?.isRunning == false)
    }

    @Test(
        "an application is forgotten when the disk has forgotten it, and then its number of them is free"
    )
    func unregister() throws {
        var stage = Stage { $0.applicationsPerOwnerMax = 1 }
        try stage.register()
        func forget(_ number: UInt64) throws {
            try stage.call { registry, _, actions in
                try registry.unregister(Stage.maps, number: number, &actions)
            }
        }
        try stage.launch()
        #expect(throws: Refusal.wrongState("maps", .active)) { try forget(50) }
        try stage.play([.exit])
        stage.clerk.disk = .fails
        try forget(51)
        #expect(stage.replies[51] == [Self.full])
        #expect(stage.state() == .notRunning)
        stage.clerk.disk = .writes
        stage.clerk.heal()
        let limit = Refusal.limitReached(limit: "applicationsPerOwnerMax", value: 1)
        #expect(throws: limit) { try stage.register(Stage.key("other")) }
        stage.clerk.disk = .waits
        try forget(52)
        #expect(stage.application() == nil)
        let forgotten = Refusal.notAccepting(
            "application maps is being unregistered; try again in a moment")
        #expect(throws: forgotten) { try stage.register() }
        #expect(throws: forgotten) { try stage.adopt() }
        finish(&stage, isStored: true)
        #expect(stage.replies[52] == [nil])
        #expect(stage.clerk.registry.applications.keys.isEmpty)
        stage.clerk.disk = .writes
        try stage.register(Stage.key("other"))
    }

    @Test("what ran under an earlier daemon was interrupted, and the rest is as it was")
    func restoration() throws {
        var running = ApplicationRecord(registration: Registration(command: ["a"]))
        running.isRunning = true
        running.badge = 4
        running.units = [AdoptedUnit(name: "a.service", user: nil)]
        var ended = ApplicationRecord(registration: Registration(command: ["b"]))
        let end = Termination(reason: .crashed, endedAt: BootInstant(nanoseconds: 5))
        ended.lastTermination = end
        var stage = Stage()
        let found = [(Stage.key("a"), running), (Stage.key("b"), ended)]
        stage.call { registry, now, actions in
            registry.restore(
                applications: found.map { (key: $0.0, record: $0.1) }, frozen: [], at: now, &actions
            )
        }
        #expect(stage.clerk.ordered == [.applicationSaved(Stage.key("a"))])
        let first = stage.application(Stage.key("a"))
        #expect(first?.state == .notRunning)
        #expect(first?.record.lastTermination?.reason == .interrupted)
        #expect(first?.record.isRunning == false && first?.record.units == [])
        #expect(first?.record.badge == 4 && first?.saved == first?.record)
        #expect(stage.application(Stage.key("b"))?.record == ended)
        try stage.launch(Stage.key("b"))
        #expect(stage.last(Stage.key("b")) == end)
    }

    @Test("a stop does not give up one that was killed, is gone, and waits for the disk")
    func drainBeforeEndIsStored() throws {
        var stage = Stage { $0.isForegroundSingle = false }
        try stage.register(Stage.key("other"))
        try stage.launch(Stage.key("other"))
        try stage.adopt()
        stage.held = [.kill]
        try stage.play([.terminate, .pass(30)])
        stage.clerk.disk = .waits
        try stage.play([.gone, .cut, .drain, .pass(30)])
        let said = stage.take()
        #expect(!said.contains { $0.hasPrefix("release") }, "\(said)")
        finish(&stage, isStored: true)
        #expect(stage.last()?.reason == .terminated)
    }
}
