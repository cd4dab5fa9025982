internal import TaskAPI

/// The tasks of the live view: which of them have a line, in which order, and which one is chosen.
///
/// The chosen line stays with its task, wherever that moves. One that was chosen by hand stays, with its outcome, also
/// when the task has ended, until another is chosen.
package struct TopList {
    package private(set) var order: TopOrder
    private(set) var filter: String
    private var tasks: [Int: TopTask] = [:]
    /// The chosen task, where it has ended.
    private var kept: TopTask?
    package private(set) var chosenID: Int?
    private var isChosenByHand = false
    /// The ids of the lines, as they were arranged last.
    package private(set) var rows: [Int] = []
    /// The first line that can be seen.
    private(set) var top = 0
    package private(set) var summary = Summary()
    private var isArranged = true

    /// What is counted of all tasks, whatever the filter.
    package struct Summary: Equatable {
        /// By the words for their states.
        fileprivate(set) var states: [String: Int] = [:]
        fileprivate(set) var slots = 0
        fileprivate(set) var idMax = 0
        fileprivate(set) var count = 0
    }

    init(order: TopOrder = .left, filter: String = "") {
        self.order = order
        self.filter = filter
    }

    /// The task of an id, also the chosen one that has ended.
    package subscript(id: Int) -> TopTask? { tasks[id] ?? (kept?.id == id ? kept : nil) }

    var chosen: TopTask? { chosenID.flatMap { self[$0] } }

    // MARK: What is told

    /// Takes all tasks that there are, in the place of those that were known.
    mutating func replace(_ all: [TopTask]) {
        tasks = Dictionary(all.filter { !$0.hasEnded }.map { ($0.id, $0) }) { $1 }
        isArranged = false
    }

    /// Takes what is told of a task.
    mutating func take(_ task: TopTask) {
        isArranged = false
        guard task.hasEnded else {
            tasks[task.id] = task
            return
        }
        tasks[task.id] = nil
        if task.id == chosenID, isChosenByHand { kept = task }
    }

    // MARK: What is shown

    /// Shows the lines in another order.
    mutating func sort(_ order: TopOrder) {
        self.order = order
        isArranged = false
    }

    /// Shows those alone that have this in one of their names.
    mutating func filter(_ text: String) {
        filter = text
        isArranged = false
    }

    /// Puts the lines in order after what has changed, and the view where the chosen one is.
    ///
    /// - Parameter height: how many lines can be seen.
    mutating func arrange(height: Int) {
        if !isArranged { arrangeRows() }
        let place = place ?? 0
        let height = max(height, 1)
        top = min(top, max(0, rows.count - height))
        if place < top { top = place }
        if place >= top + height { top = place - height + 1 }
    }

    private mutating func arrangeRows() {
        let before = place
        if let kept, kept.id != chosenID { self.kept = nil }
        let wanted = filter.lowercased()
        let all = tasks.values.map { $0 } + (kept.map { [$0] } ?? [])
        let shown = wanted.isEmpty ? all : all.filter { TopList.text($0.sought, has: wanted) }
        rows = shown.map { $0.rank(in: order) }.sorted().map(\.id)
        count()
        isArranged = true
        guard place == nil else { return }
        // What was chosen by hand and is gone is followed by what stands in its place.
        choose(at: isChosenByHand ? before ?? 0 : 0, byHand: isChosenByHand)
    }

    /// Byte by byte: it is asked of each task at each letter.
    private static func text(_ text: String, has wanted: String) -> Bool {
        text.utf8.count >= wanted.utf8.count && text.contains(wanted)
    }

    private mutating func count() {
        var summary = Summary()
        for task in tasks.values {
            summary.states[TaskText.condition(task.told), default: 0] += 1
            summary.slots += task.slots
            summary.idMax = max(summary.idMax, task.id)
        }
        summary.idMax = max(summary.idMax, kept?.id ?? 0)
        summary.count = tasks.count
        self.summary = summary
    }

    // MARK: The chosen line

    /// Where the chosen line is, as they were arranged last.
    private var place: Int? { chosenID.flatMap(rows.firstIndex) }

    /// Chooses the line so far below the chosen one, or above it where that is negative.
    mutating func move(by count: Int) {
        choose(at: (place ?? 0) + count, byHand: true)
    }

    /// Chooses the first line.
    mutating func moveToFirst() { choose(at: 0, byHand: true) }

    /// Chooses the last line.
    mutating func moveToLast() { choose(at: rows.count - 1, byHand: true) }

    private mutating func choose(at place: Int, byHand: Bool) {
        guard !rows.isEmpty else {
            (chosenID, isChosenByHand) = (nil, false)
            return
        }
        let id = rows[min(max(place, 0), rows.count - 1)]
        if id != chosenID, kept != nil { isArranged = false }
        (chosenID, isChosenByHand) = (id, byHand)
    }

    /// Takes the chosen line for one that was chosen by hand: something is done with its task.
    mutating func holdChosen() { isChosenByHand = chosenID != nil }
}
