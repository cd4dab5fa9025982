import JSON
import TaskAPI
import TestKit
import Testing
import Varlink
import TaskControl

/// A daemon that is nothing but a table of tasks: what it tells of them as events is what it lists.
private struct SmallDaemon {
    private(set) var tasks: [Int: (task: Tasks.Task, since: Int)] = [:]
    private var nextID = 1
    private static let names = [
        "upload", "写真", "e\u{301}\u{301}\u{301}", "\u{1B}[2J", "👩\u{200D}👧", "index mail",
        "\u{202E}x",
    ]

    /// A task as it is at a time.
    func task(_ id: Int, at now: Int) -> Tasks.Task? {
        guard let (told, since) = tasks[id] else { return nil }
        var task = told
        let elapsed = now - since
        task.ageMs += elapsed
        if [.running, .expiring].contains(task.state) {
            task.usedMs? += elapsed
            task.remaining = task.remaining.map { left in
                Sample.remaining(
                    ms: left.ms.map { max(0, $0 - elapsed) },
                    hardMs: left.hardMs.map { max(0, $0 - elapsed) }, left.bound)
            }
        }
        return task
    }

    func list(at now: Int) -> [Tasks.Task] { tasks.keys.sorted().compactMap { task($0, at: now) } }

    private mutating func set(_ task: Tasks.Task, at now: Int) { tasks[task.id] = (task, now) }

    mutating func submit(_ random: inout SeededGenerator, at now: Int) -> Tasks.Event {
        let task = Sample.queued(nextID) {
            $0.name = SmallDaemon.names.randomElement(using: &random) ?? ""
            $0.owner = Int.random(in: 0...2, using: &random)
            $0.priority = Int.random(in: -1...1, using: &random)
            $0.group = [nil, "uploads", "写"].randomElement(using: &random) ?? nil
            $0.ageMs = 0
        }
        nextID += 1
        set(task, at: now)
        return Sample.event(.queued, task)
    }

    /// Something happens to one of the tasks.
    mutating func change(_ random: inout SeededGenerator, at now: Int) -> Tasks.Event? {
        guard let id = tasks.keys.sorted().randomElement(using: &random),
            var task = task(id, at: now)
        else { return nil }
        var kind = Tasks.EventKind.status
        // Longer than the simulation.
        let limit = Int.random(in: 400_000...900_000, using: &random)
        switch (task.state, Int.random(in: 0...4, using: &random)) {
        case (_, 0):
            task.state = .ended
            task.outcome = Tasks.Outcome.allCases.randomElement(using: &random)
            kind = .ended
        case (.queued, _):
            (task.state, task.ageMs, task.usedMs, task.waiting) = (.running, 0, 0, nil)
            task.budget = Sample.budget(limit, limit / 4)
            task.remaining = Sample.remaining(ms: limit - limit / 4, hardMs: limit, .ownBudget)
            kind = .began
        case (.running, 1):
            task.state = .expiring
            task.remaining?.ms = 0
            kind = .expiring
        case (.running, 2):
            task.state = .dormant
            kind = .dormant
        case (.dormant, _):
            task.state = .running
            kind = .resumed
        default: task.status = "part \(limit)"
        }
        set(task, at: now)
        if kind == .ended { tasks[id] = nil }
        return Sample.event(kind, task)
    }
}

@Suite struct TopSimulationTests {
    private static let keys: [TopKey] = [
        .up, .down, .pageUp, .pageDown, .home, .end, .enter, .escape, .backspace, .redraw,
        .character("s"), .character("/"), .character("u"), .character("e"), .character("c"),
        .character("n"), .character("?"), .character("f"), .character("a"), .character("+"),
        .character("p"), .character("写"),
    ]

    @Test(
        "whatever happens, no line is too wide, the choice stays with its task, and what is known is what a new view would be told",
        arguments: 1...Effort.choose(UInt64(150), 3000))
    func simulation(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var stage = TopStage()
        var daemon = SmallDaemon()
        for step in 0..<400 {
            stage.now += Int.random(in: 0...900, using: &random)
            let chosen = stage.chosen
            switch Int.random(in: 0...9, using: &random) {
            case 0...2: stage.take(.happened(daemon.submit(&random, at: stage.now)))
            case 3...6:
                if let event = daemon.change(&random, at: stage.now) {
                    stage.take(.happened(event))
                }
                // It is another's turn only where nobody chose, or the chosen one is gone.
                if let chosen, stage.model.list[chosen] != nil, stage.rows.contains(chosen) {
                    #expect(stage.chosen == chosen, "seed \(seed), step \(step)")
                }
            case 7:
                let size = TopSize(
                    width: Int.random(in: 1...210, using: &random),
                    height: Int.random(in: 1...60, using: &random))
                stage.take(.resized(size))
                #expect(stage.chosen == chosen, "seed \(seed), step \(step)")
            default:
                stage.press(TopSimulationTests.keys.randomElement(using: &random) ?? .up)
            }
            check(stage, "seed \(seed), step \(step)")
            if step % 20 == 19 { compare(stage, daemon, "seed \(seed), step \(step)") }
        }
    }

    private func check(_ stage: TopStage, _ place: Comment) {
        let size = stage.model.size
        let lines = stage.lines
        #expect(lines.count == size.height, place)
        for line in lines {
            #expect(line.width <= size.width, place)
            #expect(line.width == line.spans.reduce(0) { $0 + TextWidth.of($1.text) }, place)
        }
        #expect(stage.rows.isEmpty == (stage.chosen == nil), place)
        guard let chosen = stage.chosen else { return }
        #expect(stage.rows.contains(chosen), place)
        let sees = stage.model.mode != .help && stage.model.mode != .following
        #expect(!sees || stage.model.window.contains(chosen), place)
        // On fewer lines a question has the place of it.
        let hasRoom = size.height ?? 0 > 3
        #expect(!sees || !hasRoom || lines.count { $0.isChosen } == 1, place)
        let ranks = stage.rows.compactMap { stage.model.list[$0]?.rank(in: stage.model.list.order) }
        #expect(ranks == ranks.sorted(), place)
    }

    /// Compares all lines with those of a view that is told everything now.
    private func compare(_ stage: TopStage, _ daemon: SmallDaemon, _ place: Comment) {
        var told = stage
        var new = TopStage(width: 200, height: nil)
        new.now = stage.now
        told.model.handle(.resized(TopSize(width: 200, height: nil)), at: told.now)
        told.model.handle(.key(.escape), at: told.now)
        told.model.handle(.key(.escape), at: told.now)
        new.take(.listed(daemon.list(at: new.now)))
        let listed = Set(new.rows)
        #expect(Set(told.rows).isSuperset(of: listed.filter { told.model.list[$0] == nil }), place)
        for id in listed {
            let (one, other) = (told.model.list[id], new.model.list[id])
            let fields = [one?.task(at: told.now), other?.task(at: new.now)].map(written)
            #expect(fields[0] == fields[1], place)
            #expect(one?.rank(in: .left) == other?.rank(in: .left), place)
            #expect(one?.rank(in: .age) == other?.rank(in: .age), place)
        }
        #expect(told.model.list.summary == new.model.list.summary, place)
    }

    /// All fields, to be compared.
    private func written(_ task: Tasks.Task?) -> String {
        var writer = JSONWriter()
        task?.write(to: &writer)
        return writer.text
    }
}
