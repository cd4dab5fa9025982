internal import LinuxSystem
internal import TaskAPI

/// Where everything stands on the screen of the live view.
///
/// Pure: the same model, at the same time, is the same lines.
package struct TopLayout {
    private let model: TopModel
    private let now: Int
    private let width: Int
    private let columns: TopColumns

    /// - Parameter now: milliseconds, on the clock of the model's events.
    package init(_ model: TopModel, at now: Int) {
        self.model = model
        self.now = model.clock(at: now)
        width = max(model.size.width, 1)
        columns = TopColumns(model)
        messageTime = now
    }

    private let messageTime: Int

    // MARK: Room

    /// How the lines of the screen are shared out.
    private struct Rooms {
        var head = 0
        var rows = 0
        /// With its title.
        var pane = 0
        var hasFoot = false

        /// - Parameter head: lines that the head wants.
        init(height: Int, head: Int) {
            var rest = height
            func take(_ wanted: Int, leaving least: Int) -> Int {
                let taken = rest - wanted >= least ? wanted : 0
                rest -= taken
                return taken
            }
            hasFoot = take(1, leaving: 3) > 0
            self.head = take(head, leaving: 5)
            pane = take(max(5, (height - 6) / 4), leaving: 8)
            rows = max(rest, 0)
        }
    }

    private static func rooms(_ model: TopModel) -> Rooms {
        Rooms(height: model.size.height ?? 0, head: headLabels(model).count + 1)
    }

    /// How many lines there are for tasks.
    static func rowCount(_ model: TopModel) -> Int {
        guard model.size.isInteractive else { return model.list.rows.count }
        // The titles of the columns have one of them.
        return max(rooms(model).rows - 1, 1)
    }

    // MARK: The screen

    /// As many lines as the screen has, none of them wider than it.
    package func lines() -> [StyledLine] {
        let height = max(model.size.height ?? 1, 1)
        var lines: [StyledLine]
        switch model.mode {
        case .help: lines = help(height)
        case .following: lines = followed(height)
        case .list, .filtering, .cancelling: lines = overview(height)
        }
        lines = lines.prefix(height).map { $0.cut(to: width) }
        return lines + Array(repeating: StyledLine(), count: height - lines.count)
    }

    /// The lines of a snapshot: all tasks, and nothing that is for the keys.
    package func snapshot() -> [StyledLine] {
        let lines = head + [StyledLine(), columns.title] + rows(model.list.rows[...], marks: false)
        return (model.list.rows.isEmpty ? lines + [nothing] : lines).map { $0.cut(to: width) }
    }

    private func overview(_ height: Int) -> [StyledLine] {
        let rooms = TopLayout.rooms(model)
        var lines: [StyledLine] = rooms.head > 0 ? head + [StyledLine()] : []
        var table = rooms.rows > 1 ? [columns.title] : []
        table += rows(model.window.prefix(max(rooms.rows - table.count, 1)), marks: true)
        if model.list.rows.isEmpty { table.append(nothing) }
        table = Array(table.prefix(max(rooms.rows, 1)))
        lines += table
        lines += Array(
            repeating: StyledLine(), count: max(0, rooms.head + rooms.rows - lines.count))
        if rooms.pane > 0 { lines += pane(rooms.pane) }
        if rooms.hasFoot {
            lines.append(foot)
        } else if hasQuestion {
            lines[lines.count - 1] = foot
        }
        return lines
    }

    private var nothing: StyledLine {
        StyledLine(
            model.list.summary.count > 0
                ? "no task has \"\(model.list.filter)\" in its number or one of its names"
                : "nothing runs or waits",
            .faint)
    }

    private func rows(_ ids: ArraySlice<Int>, marks: Bool) -> [StyledLine] {
        ids.compactMap { id in
            model.list[id].map {
                columns.line($0, at: now, isChosen: marks && id == model.list.chosenID)
            }
        }
    }

    // MARK: The head

    private static let labelWidth = 6

    /// The lines of the head that there is something for.
    private static func headLabels(_ model: TopModel) -> [String] {
        var labels = ["tasks"]
        if model.groups.slots != nil { labels.append("slots") }
        if !model.applications.all.isEmpty { labels.append("apps") }
        if model.pressure != nil { labels.append("memory") }
        return labels
    }

    private var head: [StyledLine] {
        TopLayout.headLabels(model).map { label in
            var line = StyledLine()
            line.add(label, .bold, in: TopLayout.labelWidth, isRight: true)
            switch label {
            case "tasks": addTasks(to: &line)
            case "slots": flow(slots, into: &line)
            case "apps": flow(applications, into: &line)
            default: addPressure(to: &line)
            }
            return line.cut(to: width)
        }
    }

    /// A few words of the head.
    private struct Item {
        let text: String
        var ink = StyledLine.Ink.plain

        static func of(_ text: String, _ ink: StyledLine.Ink = .plain) -> Item {
            Item(text: text, ink: ink)
        }
    }

    /// As many of the items as there is room for, and how many others there are.
    private func flow(_ items: [Item], into line: inout StyledLine) {
        let gap = 2
        for (index, item) in items.enumerated() {
            let others = items.count - index
            let rest = "+\(others)"
            let text = StyledLine.cut(item.text, to: 60)
            let isLast = others == 1
            let need = gap + TextWidth.of(text) + (isLast ? 0 : gap + rest.utf8.count)
            guard line.width + need <= width else {
                line.add("  " + rest, .faint)
                return
            }
            line.add("  ")
            line.add(text, item.ink)
        }
    }

    private func addTasks(to line: inout StyledLine) {
        let summary = model.list.summary
        var items: [Item] = []
        if case .lost(let why, let since) = model.connection {
            let seconds = TimeText.countdown(messageTime - since)
            items.append(.of("no connection for \(seconds): \(why)", .alarm))
            return flow(items, into: &line)
        }
        if case .silent(let since) = model.connection {
            let seconds = TimeText.countdown(messageTime - since)
            items.append(.of("no answer from bgtaskd for \(seconds)", .alarm))
        }
        if model.list.order != .left {
            items.append(.of("by \(model.list.order.rawValue):", .bold))
        }
        if !model.list.filter.isEmpty {
            let shown = "\(model.list.rows.count) with \"\(model.list.filter)\""
            items.append(.of("\(shown) of \(summary.count):", .bold))
        }
        items += TopLayout.states.compactMap { state, ink in
            summary.states[state].map { .of("\($0) \(state)", ink) }
        }
        if summary.count == 0 { items.append(.of("none", .faint)) }
        let ended = Tasks.Outcome.allCases.compactMap { outcome in
            model.ended[outcome].map {
                Item(text: "\($0) \(outcome.rawValue)", ink: .init(TaskText.colour(outcome)))
            }
        }
        if !ended.isEmpty { items += [.of("|", .faint)] + ended }
        flow(items, into: &line)
    }

    /// The words for states, in their order, and how they look.
    private static let states: [(String, StyledLine.Ink)] = [
        ("running", .plain), ("expiring", .warning), ("stuck", .alarm), ("paused", .plain),
        ("dormant", .plain), ("queued", .plain),
    ]

    private var slots: [Item] {
        let used = model.list.summary.slots
        let all = model.groups.slots ?? 0
        // Those of other users are known to nobody but operators.
        let whose = model.isOfEverybody ? "used" : "used by you"
        let own = Item.of("\(used) of \(all) \(whose)")
        return [own]
            + model.groups.groups.map { group in
                let queued = group.queued > 0 ? ", \(group.queued) queued" : ""
                let paused = group.paused ? ", paused" : ""
                return .of(
                    "\(group.name) \(group.running) of \(group.slots)\(queued)\(paused)",
                    group.paused ? .warning : .plain)
            }
    }

    private var applications: [Item] {
        model.applications.texts(at: now).map { Item(text: $0.text, ink: .init($0.colour)) }
    }

    private func addPressure(to line: inout StyledLine) {
        guard let pressure = model.pressure else { return }
        let ink: StyledLine.Ink =
            pressure.full >= 1000 ? .alarm : pressure.some >= 1000 ? .warning : .plain
        line.add("  ")
        line.add(pressure.text, ink)
    }

    // MARK: The pane

    /// What is said of the chosen task, with a title.
    private func pane(_ height: Int) -> [StyledLine] {
        guard let task = model.list.chosen?.task(at: now) else {
            return Array(repeating: StyledLine(), count: height)
        }
        var lines = [title(task)]
        if let explanation = model.explanation, explanation.id == task.id {
            lines += explained(explanation.rules).prefix(height - 1)
        } else {
            lines.append(facts(task))
            lines += printed(task, height - 2)
        }
        return lines + Array(repeating: StyledLine(), count: max(0, height - lines.count))
    }

    private func title(_ task: Tasks.Task) -> StyledLine {
        var line = StyledLine("-- ", .faint)
        let what = model.explanation?.id == task.id ? "why " : ""
        line.add(StyledLine.cut("\(what)\(task.name) (\(task.id))", to: max(width - 8, 1)), .bold)
        line.add(" ")
        line.add(String(repeating: "-", count: max(0, width - line.width)), .faint)
        return line
    }

    private func facts(_ task: Tasks.Task) -> StyledLine {
        let facts: [String?] = [
            "owner \(model.list.chosen?.owner ?? "")",
            task.application.map { "application \($0)" }, task.group.map { "group \($0)" },
            task.priority == 0 ? nil : "priority \(task.priority)", AttemptText.named(task),
            task.pid.map { "pid \($0)" }, "age \(TimeText.countdown(task.ageMs))",
            task.budget.map { "budget \(TimeText.span($0.durationMs))" },
            task.outcome.map { outcome in
                outcome.rawValue + (task.exit.map { ", \(TaskText.exit($0))" } ?? "")
            },
            model.list.chosen?.doing,
        ]
        var line = StyledLine()
        for fact in facts.compactMap(\.self) where line.width < width {
            if line.width > 0 { line.add("  ") }
            line.add(StyledLine.cut(fact, to: width), .faint)
        }
        return line
    }

    /// What it has reported, and the last of what it has printed.
    private func printed(_ task: Tasks.Task, _ count: Int) -> [StyledLine] {
        if let progress = reported(task) {
            return [progress] + printedOnly(task, count - 1)
        }
        return printedOnly(task, count)
    }

    /// How far it has come, by its own account.
    private func reported(_ task: Tasks.Task) -> StyledLine? {
        let parts = [task.progress.map(ProgressText.full), task.status].compactMap(\.self)
        guard !parts.isEmpty else { return nil }
        return StyledLine(StyledLine.cut(parts.joined(separator: "  "), to: width), .bold)
    }

    private func printedOnly(_ task: Tasks.Task, _ count: Int) -> [StyledLine] {
        guard count > 0 else { return [] }
        guard let output = model.output, output.id == task.id, !output.lines.isEmpty else {
            let text: String =
                switch (task.kind, task.state) {
                case (.held, _): "(what its program prints is not seen here)"
                case (.run, .queued): ""
                case (.run, _): "(nothing printed so far)"
                }
            return [StyledLine(StyledLine.cut(text, to: width), .faint)]
        }
        return output.last(count).map { StyledLine(StyledLine.cut($0, to: width)) }
    }

    private func explained(_ rules: [Tasks.Explanation]) -> [StyledLine] {
        if rules.isEmpty { return [StyledLine("nothing holds it back, and nothing limits it")] }
        return rules.flatMap { rule in
            let number = rule.value.map { " (\(LimitText.amount(rule.rule, $0)))" } ?? ""
            let when = rule.earliestChangeMs.map { "; can change in \(TimeText.span($0))" } ?? ""
            let text = VisibleText.oneLine("\(rule.rule)\(number): \(rule.text)\(when)")
            return TextWidth.wrapped(text, to: width).map { StyledLine($0) }
        }
    }

    // MARK: One task on the whole screen

    private func followed(_ height: Int) -> [StyledLine] {
        guard let known = model.list.chosen else { return overview(height) }
        let task = known.task(at: now)
        guard height > 3 else {
            return [columns.line(known, at: now, isChosen: true)] + printed(task, height - 1)
        }
        let lines = [
            title(task), columns.line(known, at: now, isChosen: false), facts(task), StyledLine(),
        ]
        let room = height - lines.count - 1
        let printed = printed(task, room)
        return lines + printed
            + Array(repeating: StyledLine(), count: max(0, room - printed.count)) + [foot]
    }

    // MARK: The foot

    private var hasQuestion: Bool {
        switch model.mode {
        case .cancelling, .filtering: true
        case .list, .following, .help: model.line(at: messageTime) != nil
        }
    }

    private var foot: StyledLine {
        switch model.mode {
        case .cancelling(let id):
            return StyledLine(
                "cancel \(model.name(of: id))? y cancels it, any other key does not", .warning)
        case .filtering:
            var line = StyledLine("filter: ", .bold)
            line.add(model.list.filter + "_")
            line.add("  (in the number, or a name of task, user, application, group)", .faint)
            return line
        case .list, .following, .help: break
        }
        if let notice = model.line(at: messageTime) { return StyledLine(notice, .bold) }
        if model.mode == .following {
            return keys([
                ("q", "back"), ("j k", "other task"), ("e", "explain"), ("+", "extend"),
                ("c", "cancel"),
            ])
        }
        return keys([
            ("q", "quit"), ("?", "keys"), ("Enter", "follow"), ("e", "explain"), ("+", "extend"),
            ("c", "cancel"), ("/", "filter"), ("s", "sort"),
            ("p", "pause group"), ("a", model.isOfEverybody ? "your own" : "all users"),
        ])
    }

    private func keys(_ keys: [(key: String, what: String)]) -> StyledLine {
        var line = StyledLine()
        for (key, what) in keys {
            let gap = line.width > 0 ? 2 : 0
            guard line.width + gap + key.utf8.count + 1 + what.utf8.count <= width else { break }
            line.fill(to: line.width + gap)
            line.add(key, .bold)
            line.add(" " + what, .faint)
        }
        return line
    }

    // MARK: Help

    private static let keys: [(String, String)] = [
        ("arrows, j k", "choose the task below or above; PgUp PgDn Home End go further"),
        ("Enter, f", "follow what the task prints on the whole screen, and back"),
        ("e", "say which rule holds it back or limits it, and back"),
        ("+", "start its budget anew from now, within its lifetime limit"),
        ("c", "cancel it, when you have said yes"),
        ("p", "hold back what is queued in its group, or let it go; for operators"),
        ("/", "show those alone that have a text in their number or a name"),
        ("Esc", "take back the explanation, and then that text"),
        ("s", "order by what is left, age, name, user, id"),
        ("a", "show the tasks of all users, or your own; for operators"),
        ("Ctrl-L", "show everything anew"),
        ("? h", "these keys"),
        ("q", "quit; from the whole screen and from these keys: go back"),
    ]

    private func help(_ height: Int) -> [StyledLine] {
        let keys = TopLayout.keys.map { key, what in
            var line = StyledLine()
            line.add(key, .bold, in: 12, isRight: true)
            line.add("  " + what)
            return line
        }
        var bars = StyledLine()
        bars.add("[###...::]", in: 12, isRight: true)
        bars.add("  # used, . left until the warning, : its grace, ! used of that")
        var rest = StyledLine()
        rest.add("+2", in: 12, isRight: true)
        rest.add("  at the end of a line above: so many more have no room there")
        return keys
            + [StyledLine(), bars, rest, StyledLine(), StyledLine("any key goes back", .faint)]
    }
}
