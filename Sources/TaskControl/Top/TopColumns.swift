internal import TaskAPI

/// The columns of the live view: how wide each is on a screen.
struct TopColumns {
    private let id: Int
    private let user: Int
    private let name: Int
    private let group: Int
    private let bar: Int
    private let doing: Int

    private static let gap = 2
    private static let mark = 2
    private static let state = 9
    private static let left = 9
    /// From which width on how far a task has come is drawn.
    private static let barMin = 40

    init(_ model: TopModel) {
        let width = max(model.size.width, 1)
        id = max(String(model.list.summary.idMax).utf8.count, 2)
        user = model.isOfEverybody ? 8 : 0
        bar = width < 64 ? 0 : width < 100 ? 12 : width < 150 ? 20 : 30
        group = width < 130 ? 0 : 12
        let fixed = [id, user, TopColumns.state, bar, TopColumns.left, group].filter { $0 > 0 }
        let rest =
            width - TopColumns.mark - fixed.reduce(0, +)
            - TopColumns.gap * (fixed.count + 1)
        name = min(max(rest * 2 / 5, 8), 32)
        doing = max(rest - name, 0)
    }

    var title: StyledLine {
        var line = StyledLine()
        line.add("", in: TopColumns.mark)
        add("ID", .bold, to: &line, in: id, isRight: true)
        add("USER", .bold, to: &line, in: user)
        add("NAME", .bold, to: &line, in: name)
        add("STATE", .bold, to: &line, in: TopColumns.state)
        add("BUDGET", .bold, to: &line, in: bar)
        add("LEFT", .bold, to: &line, in: TopColumns.left, isRight: true)
        add("GROUP", .bold, to: &line, in: group)
        line.add("DOING", .bold, in: doing)
        return line
    }

    /// The line of a task.
    func line(_ known: TopTask, at now: Int, isChosen: Bool) -> StyledLine {
        let task = known.task(at: now)
        var line = StyledLine()
        line.isChosen = isChosen
        line.add(isChosen ? ">" : "", .bold, in: TopColumns.mark)
        add(String(task.id), to: &line, in: id, isRight: true)
        add(known.owner, to: &line, in: user)
        add(task.name, to: &line, in: name)
        let ink = StyledLine.Ink(TaskText.colour(task))
        add(TaskText.condition(task), ink, to: &line, in: TopColumns.state)
        addBar(task, to: &line)
        add(
            left(task), ink == .warning ? ink : .plain, to: &line, in: TopColumns.left,
            isRight: true)
        add(task.group ?? "", .faint, to: &line, in: group)
        line.add(doing(task, known.doing), task.state == .queued ? .faint : .plain, in: doing)
        return line
    }

    private func add(
        _ text: String, _ ink: StyledLine.Ink = .plain, to line: inout StyledLine, in width: Int,
        isRight: Bool = false
    ) {
        guard width > 0 else { return }
        line.add(text, ink, in: width, isRight: isRight)
        line.add("", in: TopColumns.gap)
    }

    private func addBar(_ task: Tasks.Task, to line: inout StyledLine) {
        guard bar > 0 else { return }
        let end = line.width + bar
        // The brackets have two of its cells.
        BudgetBar(task, cells: bar - 2)?.add(to: &line)
        line.fill(to: end + TopColumns.gap)
    }

    private func left(_ task: Tasks.Task) -> String {
        switch task.state {
        case .ended, .queued: return ""
        case .dormant: return "stands"
        case .running, .expiring: break
        }
        guard let remaining = task.remaining else { return "" }
        return (remaining.hardMs ?? remaining.ms).map(TimeText.countdown) ?? "no limit"
    }

    private func doing(_ task: Tasks.Task, _ command: String) -> String {
        if task.state == .queued {
            let waiting = WaitingText.short(task)
            return waiting == Table.nothing ? command : "waits: \(waiting)  \(command)"
        }
        if task.state == .ended {
            return task.reason ?? task.exit.map(TaskText.exit) ?? ""
        }
        let progress =
            doing < TopColumns.barMin ? ProgressText.brief(task) : ProgressText.line(task)
        // Whose work is held says so itself.
        if task.kind == .held, let progress { return progress }
        return (progress.map { $0 + "  " } ?? "") + command
    }
}
