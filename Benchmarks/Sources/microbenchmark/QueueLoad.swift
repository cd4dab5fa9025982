internal import BudgetCore

/// Submissions, starts and cancels in a queue of some depth, with a disk that answers at once.
final class QueueLoad {
    private var registry: BackgroundTaskRegistry
    private var actions: [Action] = []
    private var now = Instant.start
    private var running: TaskID?
    /// Those that can be cancelled, in no order.
    private var queued: [TaskID] = []
    private var random = RandomNumbers()

    private static let depths = [1000, 100_000]
    private static let rounds = 9
    /// So few that the depth stays about the same.
    private static let operationsPerRound = 200

    private init(depth: Int) throws {
        registry = try .empty()
        for _ in 0...depth { try submit() }
        guard registry.queuedCount == depth, running != nil else { throw Surprise.notRunning }
        queued.removeFirst()
    }

    /// What is measured, with what makes it possible and what restores the depth.
    private struct Operation: Sendable {
        var name: String
        var prepare: @Sendable (QueueLoad) throws -> Void = { _ in }
        var work: @Sendable (QueueLoad) throws -> Void
        var restore: @Sendable (QueueLoad) throws -> Void = { _ in }
    }

    private static let operations = [
        Operation(
            name: "queue-submit", work: { try $0.submit() }, restore: { try $0.cancelAny() }),
        Operation(
            name: "queue-cancel", prepare: { try $0.submit() }, work: { try $0.cancelAny() }),
        // The last one: it does not say which of the queued tasks it has started.
        Operation(
            name: "queue-start", work: { try $0.finishRunning() }, restore: { try $0.submit() }),
    ]

    /// The cost of each operation by the depth of the queue.
    static func measure() throws {
        let loads = try depths.map(QueueLoad.init(depth:))
        for operation in operations {
            let seconds = try Stopwatch.inTurn(depths.count, rounds: rounds) { index in
                try loads[index].repeated(operation.prepare)
                let seconds = try Stopwatch.seconds { try loads[index].repeated(operation.work) }
                try loads[index].repeated(operation.restore)
                return seconds
            }
            for (depth, seconds) in zip(depths, seconds) {
                Figure.rate(
                    "\(operation.name)-\(depth)", operationsPerRound, in: seconds, "operations")
            }
            Figure.growth(operation.name, few: seconds[0], many: seconds[1])
        }
    }

    private func repeated(_ body: (QueueLoad) throws -> Void) rethrows {
        for _ in 0..<QueueLoad.operationsPerRound { try body(self) }
    }

    private func submit() throws {
        now = now + .microseconds(1)
        let submission = Submission(
            name: "measured", owner: .measured, work: Work(command: ["true"]))
        queued.append(try registry.submit(submission, at: now, &actions).id)
        perform()
    }

    private func cancelAny() throws {
        let index = random.next(below: queued.count)
        queued.swapAt(index, queued.count - 1)
        let id = queued.removeLast()
        _ = try registry.cancel(id, by: .measured, text: nil, at: now, &actions)
        perform()
    }

    /// The command exits, and the next has its slot.
    private func finishRunning() throws {
        guard let id = running else { throw Surprise.notRunning }
        now = now + .microseconds(1)
        running = nil
        registry.mainExited(id, .status(0), at: now, &actions)
        perform()
    }

    /// What the daemon does, with nothing of the system behind it.
    private func perform() {
        var index = 0
        while index < actions.count {
            let action = actions[index]
            index += 1
            switch action {
            case .store(let step): registry.stored(step, at: now, &actions)
            case .launch(let id):
                running = id
                registry.started(id, as: ProcessID(rawValue: 1), at: now, &actions)
            case .killAll(let id): registry.processesGone(id, at: now, &actions)
            default: break
            }
        }
        actions.removeAll(keepingCapacity: true)
        _ = registry.forgetExcess()
    }
}
