package import TaskAPI

/// What one row of a timeline is about.
package enum TimelineGrouping: String, CaseIterable, Sendable {
    /// All tasks of one name, of one application and user.
    case name
    case task
    /// All tasks of one application.
    case application
}

/// How large what is drawn is.
package struct TimelineScale: Sendable {
    /// The length of the axis, in units: pixels or columns.
    let width: Double
    /// The width of the mark at the end of a task.
    let mark: Double
    /// The width of a column of a crowd.
    let column: Double
    /// Whether only whole units can be drawn.
    let isWhole: Bool

    /// Where an entry begins and ends on the axis, with its marks.
    fileprivate func extent(of entry: TimelineEntry, on axis: TimeAxis) -> Range<Double> {
        let (begin, end) = (axis.fraction(entry.begin) * width, axis.fraction(entry.end) * width)
        guard isWhole else { return begin..<max(end + mark / 2, begin + mark) }
        let first = min(begin.rounded(.down), width - 1)
        return first..<(min(end.rounded(.down), width - 1) + 1)
    }

    fileprivate var columns: Int { max(1, Int(width / column)) }
}

/// How much is drawn at most.
package struct TimelineLimits: Sendable {
    /// Rows; those that are too many are drawn together as the last.
    package var rows = 100
    /// Lines within a row, in which tasks are drawn that overlap.
    package var lanes = 6
    /// Tasks that a row draws one by one.
    package var perRow = 200
    /// All that is drawn, in pieces of about the same size.
    package var pieces = 5000

    package init() {}
}

/// The rows of a timeline, thinned so that they can be drawn. No entry is dropped: what is too much to be told apart is
/// counted.
package struct TimelineChart: Sendable {
    package let axis: TimeAxis
    package let rows: [Row]
    /// How many tasks are drawn, one by one or counted.
    package let tasks: Int
    /// How many rows the last one stands for; 0 where it stands for itself.
    package let merged: Int
    /// How many states that were too short to be seen are drawn as what is beside them.
    package let blurred: Int

    /// One row.
    package struct Row: Sendable {
        /// What a row has entries of.
        enum Kind: Int, Sendable { case application, tasks, others }

        let kind: Kind
        /// Of another's choice: to be shown as such.
        package let label: String
        /// Whether it belongs to the application above it.
        let isBeneath: Bool
        package let count: Int
        package let content: Content

        /// Whether its entries are drawn one by one.
        var isLanes: Bool { if case .lanes = content { true } else { false } }
    }

    /// How a row is drawn.
    package enum Content: Sendable {
        /// One by one, in lines in which nothing overlaps.
        case lanes([[TimelineEntry]])
        case crowd(TimelineCrowd)
    }

    /// - Parameters:
    ///   - entries: those that are not within the axis are not drawn.
    ///   - users: the name of a user, for the labels where there is more than one.
    package init(
        _ entries: [TimelineEntry], axis: TimeAxis, by grouping: TimelineGrouping,
        scale: TimelineScale, limits: TimelineLimits = TimelineLimits(),
        users: (Int) -> String = { String($0) }
    ) {
        var blurred = 0
        let unit = Int(Double(axis.length) / scale.width)
        let shown = entries.filter { $0.end >= axis.begin && $0.begin <= axis.end }.map { entry in
            let (coarse, lost) = entry.coarsened(shorterThan: unit)
            blurred += lost
            return coarse
        }
        let groups = TimelineGroup.grouped(shown, by: grouping, users: users)
        let (kept, others) = TimelineGroup.divided(groups, atMost: max(1, limits.rows))
        var rest: TimelineGroup?
        if !others.isEmpty {
            rest = TimelineGroup(
                kind: .others, label: "\(others.count) others", isBeneath: false,
                entries: others.flatMap(\.entries))
        }
        let thinning = Thinning(kept, rest, axis: axis, scale: scale, limits: limits)
        rows = (kept + [rest].compactMap(\.self)).map(thinning.row)
        tasks = shown.count(where: \.isTask)
        merged = others.count
        self.axis = axis
        self.blurred = blurred
    }

    /// What a reader has to know of what is not drawn as it was, a sentence each.
    package var notes: [String] {
        var notes: [String] = []
        if merged > 0, let last = rows.last {
            notes.append(
                "\(merged) rows that took the least time, with \(last.count) entries, are drawn as one, the last; "
                    + "--rows allows more.")
        }
        let crowds = rows.filter { !$0.isLanes }
        if !crowds.isEmpty {
            let count = crowds.reduce(0) { $0 + $1.count }
            notes.append(
                "Columns stand for \(count) entries that are too many to be drawn one by one: the height is how many "
                    + "there were in that time, and a mark below is the worst end.")
        }
        if blurred > 0 {
            notes.append(
                "\(blurred) states that were too short to be seen are drawn as the longest of what is beside them."
            )
        }
        return notes
    }
}

/// What becomes one row.
private struct TimelineGroup {
    let kind: TimelineChart.Row.Kind
    let label: String
    let isBeneath: Bool
    /// In the order of their begins.
    var entries: [TimelineEntry]

    var timeActive: Int { entries.reduce(0) { $0 + $1.timeActive } }

    /// What the entries of one group have in common.
    private struct Key: Hashable {
        let owner: Int
        let application: String?
        let isTask: Bool
        let name: String
        let id: Int
    }

    /// The groups in the order of their begins, those of an application together and behind it.
    static func grouped(
        _ entries: [TimelineEntry], by grouping: TimelineGrouping, users: (Int) -> String
    ) -> [TimelineGroup] {
        var found: [Key: [TimelineEntry]] = [:]
        var blocks: [Key: Int] = [:]
        for entry in entries {
            let key = key(of: entry, grouping)
            found[key, default: []].append(entry)
            let block = block(of: key)
            blocks[block] = min(blocks[block] ?? .max, entry.begin)
        }
        let hasUsers = Set(entries.map(\.owner)).count > 1
        let sorted = found.map { key, entries in
            (key: key, entries: entries.sorted { ($0.begin, $0.order) < ($1.begin, $1.order) })
        }.sorted { one, other in
            let (block, otherBlock) = (block(of: one.key), block(of: other.key))
            let (begin, otherBegin) = (blocks[block] ?? 0, blocks[otherBlock] ?? 0)
            if begin != otherBegin { return begin < otherBegin }
            if block != otherBlock { return precedes(block, otherBlock) }
            if one.key.isTask != other.key.isTask { return !one.key.isTask }
            let first = one.entries.first?.begin ?? 0
            let otherFirst = other.entries.first?.begin ?? 0
            return first == otherFirst ? precedes(one.key, other.key) : first < otherFirst
        }
        return sorted.map { key, entries in
            let isBeneath =
                key.isTask && found[block(of: key)] != nil && key.application != nil
            let user = hasUsers && !isBeneath ? "\(users(key.owner)): " : ""
            return TimelineGroup(
                kind: key.isTask ? .tasks : .application,
                label: user + label(of: key, isBeneath: isBeneath, grouping), isBeneath: isBeneath,
                entries: entries)
        }
    }

    private static func key(of entry: TimelineEntry, _ grouping: TimelineGrouping) -> Key {
        guard case .task(let id) = entry.subject else {
            return Key(
                owner: entry.owner, application: entry.name, isTask: false, name: "", id: 0)
        }
        return Key(
            owner: entry.owner, application: entry.application, isTask: true,
            name: grouping == .application ? "" : entry.name, id: grouping == .task ? id : 0)
    }

    /// What stands together: an application with its tasks, or a group by itself.
    private static func block(of key: Key) -> Key {
        guard key.application != nil else { return key }
        return Key(
            owner: key.owner, application: key.application, isTask: false, name: "", id: 0)
    }

    private static func precedes(_ one: Key, _ other: Key) -> Bool {
        (one.application ?? "", one.name, one.id, one.owner)
            < (other.application ?? "", other.name, other.id, other.owner)
    }

    private static func label(
        of key: Key, isBeneath: Bool, _ grouping: TimelineGrouping
    ) -> String {
        guard key.isTask else { return key.application ?? "" }
        if grouping == .application {
            return isBeneath ? "tasks" : key.application ?? "no application"
        }
        let name = grouping == .task ? "\(key.id) \(key.name)" : key.name
        return isBeneath ? name : key.application.map { "\($0)/\(name)" } ?? name
    }

    /// The groups that took the most time, in their order, and the others.
    static func divided(_ groups: [TimelineGroup], atMost count: Int) -> (
        kept: [TimelineGroup], others: [TimelineGroup]
    ) {
        guard groups.count > count else { return (groups, []) }
        let times = groups.map(\.timeActive)
        let ranked = groups.indices.sorted {
            times[$0] == times[$1] ? $0 < $1 : times[$0] > times[$1]
        }
        let kept = Set(ranked.prefix(count - 1))
        return (
            groups.indices.filter(kept.contains).map { groups[$0] },
            groups.indices.filter { !kept.contains($0) }.map { groups[$0] }
        )
    }
}

extension TimelineEntry {
    /// Of two that began at once the one with the lower number is the first.
    fileprivate var order: Int { if case .task(let id) = subject { id } else { 0 } }
}

/// Decides which rows are drawn one by one, so that all of them are no more than can be drawn.
private struct Thinning {
    private let axis: TimeAxis
    private let scale: TimelineScale
    private let lanesMax: Int
    private var perRow: Int
    private var columns: Int

    /// Fewer are drawn one by one even if they are too many.
    private static let perRowMin = 4
    private static let columnsMin = 12

    init(
        _ groups: [TimelineGroup], _ rest: TimelineGroup?, axis: TimeAxis, scale: TimelineScale,
        limits: TimelineLimits
    ) {
        self.axis = axis
        self.scale = scale
        lanesMax = max(1, limits.lanes)
        perRow = max(limits.perRow, Self.perRowMin)
        columns = scale.columns
        while true {
            var (single, crowds) = (0, rest == nil ? 0 : 1)
            for group in groups {
                if group.entries.count > perRow {
                    crowds += 1
                } else {
                    single += group.entries.reduce(0) { $0 + $1.pieces }
                }
            }
            let left = max(0, limits.pieces - single)
            if single + crowds * scale.columns <= limits.pieces { return }
            if crowds > 0, left / crowds >= scale.columns / 2 || perRow == Self.perRowMin {
                columns = max(Self.columnsMin, min(scale.columns, left / crowds))
                return
            }
            guard perRow > Self.perRowMin else { return }
            perRow = max(Self.perRowMin, perRow / 2)
        }
    }

    func row(_ group: TimelineGroup) -> TimelineChart.Row {
        let lanes = group.kind == .others || group.entries.count > perRow ? nil : lanes(group)
        let content =
            lanes.map(TimelineChart.Content.lanes)
            ?? .crowd(TimelineCrowd(group.entries, axis: axis, columns: columns))
        return TimelineChart.Row(
            kind: group.kind, label: group.label, isBeneath: group.isBeneath,
            count: group.entries.count, content: content)
    }

    /// The entries in lines in which nothing overlaps, each in the first that has room; `nil` where it takes too many.
    private func lanes(_ group: TimelineGroup) -> [[TimelineEntry]]? {
        var (lanes, ends): ([[TimelineEntry]], [Double]) = ([], [])
        for entry in group.entries {
            let extent = scale.extent(of: entry, on: axis)
            if let lane = ends.firstIndex(where: { $0 <= extent.lowerBound }) {
                lanes[lane].append(entry)
                ends[lane] = extent.upperBound
            } else {
                guard lanes.count < lanesMax else { return nil }
                lanes.append([entry])
                ends.append(extent.upperBound)
            }
        }
        return lanes
    }
}

extension TimelineEntry {
    /// How much there is to draw of it.
    fileprivate var pieces: Int { 1 + (spans.count + marks.count) / 4 }
}

/// Entries that are too many to be drawn one by one, counted in columns of the same length of time.
package struct TimelineCrowd: Sendable {
    package let columns: [Column]
    /// The most that were there in one column.
    package let peak: Int
    /// How the tasks ended, those too that ended before or behind the axis.
    package let outcomes: TimelineOutcomes

    /// A part of the axis.
    package struct Column: Equatable, Sendable {
        /// In milliseconds since 1970.
        package var begin: Int
        package var end: Int
        /// How many ran in it, or were there.
        package var active = 0
        /// How many waited in it, and did nothing else.
        package var waiting = 0
        /// How those ended that ended in it.
        package var outcomes = TimelineOutcomes()
    }

    fileprivate init(_ entries: [TimelineEntry], axis: TimeAxis, columns count: Int) {
        var active = [Int](repeating: 0, count: count + 1)
        var waiting = active
        var columns = (0..<count).map { place in
            Column(
                begin: axis.moment(Double(place) / Double(count)),
                end: axis.moment(Double(place + 1) / Double(count)))
        }
        var outcomes = TimelineOutcomes()
        func place(_ moment: Int) -> Int {
            min(Int(axis.fraction(moment) * Double(count)), count - 1)
        }
        for entry in entries {
            let working = entry.spans.first { $0.kind != .waiting && $0.kind != .unknown }
            if let working {
                active[place(working.begin)] += 1
                active[place(entry.end) + 1] -= 1
                if place(working.begin) > place(entry.begin) {
                    waiting[place(entry.begin)] += 1
                    waiting[place(working.begin)] -= 1
                }
            } else {
                waiting[place(entry.begin)] += 1
                waiting[place(entry.end) + 1] -= 1
            }
            guard let outcome = entry.outcome else { continue }
            outcomes.add(outcome)
            if axis.begin...axis.end ~= entry.end {
                columns[place(entry.end)].outcomes.add(outcome)
            }
        }
        var (nowActive, nowWaiting) = (0, 0)
        for place in columns.indices {
            nowActive += active[place]
            nowWaiting += waiting[place]
            columns[place].active = nowActive
            columns[place].waiting = nowWaiting
        }
        self.columns = columns
        self.outcomes = outcomes
        peak = columns.map(\.active).max() ?? 0
    }
}

/// How many ended in which way.
package struct TimelineOutcomes: Equatable, Sendable {
    private var counts: [Tasks.Outcome: Int] = [:]

    /// From what asks most for a look to what does least.
    package static let order: [Tasks.Outcome] = [
        .failed, .overrun, .interrupted, .abandoned, .expired, .cancelled, .completed,
    ]

    mutating func add(_ outcome: Tasks.Outcome) { counts[outcome, default: 0] += 1 }

    func count(_ outcome: Tasks.Outcome) -> Int { counts[outcome] ?? 0 }

    package var total: Int { counts.values.reduce(0, +) }

    /// The worst of them; `nil` where nothing ended.
    package var worst: Tasks.Outcome? { Self.order.first { count($0) > 0 } }

    /// `40 completed, 5 failed`; empty where nothing ended.
    package var text: String {
        Self.order.reversed().filter { count($0) > 0 }.map { "\(count($0)) \($0.rawValue)" }
            .joined(separator: ", ")
    }
}
