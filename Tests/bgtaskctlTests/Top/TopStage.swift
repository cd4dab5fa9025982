import TaskAPI
import TaskControl

/// A live view for a test, with a clock that the test moves.
struct TopStage {
    var model: TopModel
    var now = 1_000_000

    init(width: Int = 80, height: Int? = 24, isOfEverybody: Bool = false) {
        model = TopModel(
            size: TopSize(width: width, height: height), isOfEverybody: isOfEverybody,
            users: { $0 == 0 ? "root" : "user\($0)" })
    }

    /// What happened, and what is to be done for it.
    @discardableResult
    mutating func take(_ event: TopModel.Event) -> [TopModel.Order] {
        let orders = model.handle(event, at: now)
        model.arrange()
        return orders
    }

    /// Keys, one after the other.
    @discardableResult
    mutating func press(_ keys: TopKey...) -> [TopModel.Order] { keys.flatMap { take(.key($0)) } }

    /// The letters of a text.
    @discardableResult
    mutating func type(_ text: String) -> [TopModel.Order] {
        text.unicodeScalars.flatMap { take(.key(.character($0))) }
    }

    mutating func happen(_ kind: Tasks.EventKind, _ task: Tasks.Task) {
        take(.happened(Sample.event(kind, task)))
    }

    var lines: [StyledLine] { TopLayout(model, at: now).lines() }
    var text: [String] { lines.map(\.text) }

    /// The line that has a text.
    func line(with text: String) -> String? { self.text.first { $0.contains(text) } }

    var rows: [Int] { model.list.rows }
    var chosen: Int? { model.list.chosenID }
}

extension Sample {
    /// A task with so many milliseconds left of its three minutes.
    static func task(_ id: Int, left: Int, _ change: (inout Tasks.Task) -> Void = { _ in })
        -> Tasks.Task
    {
        task {
            $0.id = id
            $0.remaining = remaining(ms: max(0, left - 5000), hardMs: left, .ownBudget)
            $0.usedMs = 180_000 - left
            change(&$0)
        }
    }

    /// A command that waits in the queue.
    static func queued(_ id: Int, _ change: (inout Tasks.Task) -> Void = { _ in }) -> Tasks.Task {
        task {
            $0.id = id
            $0.state = .queued
            $0.remaining = nil
            $0.usedMs = nil
            $0.waiting = "slots"
            change(&$0)
        }
    }
}
