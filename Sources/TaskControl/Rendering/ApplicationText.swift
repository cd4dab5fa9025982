package import TaskAPI

/// Shows applications.
package enum ApplicationText {
    // MARK: A sentence

    /// How an application is after an order: `player is in the background, with 2min 55s left`.
    package static func sentence(_ application: Applications.Application) -> String {
        "\(VisibleText.oneLine(application.id)) \(state(application))\n"
    }

    /// How an application is that has been registered.
    package static func registered(_ application: Applications.Application) -> String {
        let state = application.state == .notRunning ? "" : "; it \(state(application))"
        return "\(VisibleText.oneLine(application.id)) is registered\(state)\n"
    }

    private static func state(_ application: Applications.Application) -> String {
        let words = words(for: application.state)
        if application.state == .suspended, !application.frozen {
            return words + ", and not frozen"
        }
        guard application.state == .background, let left = application.remainingMs else {
            return words
        }
        return "\(words), with \(TimeText.span(left)) left"
    }

    /// What an application is in a state.
    static func words(for state: Applications.State) -> String {
        switch state {
        case .notRunning: "is not running"
        case .inactive: "is inactive"
        case .active: "is active"
        case .background: "is in the background"
        case .suspended: "is suspended"
        }
    }

    /// The colour of a state.
    static func colour(_ state: Applications.State) -> Style.Colour? {
        switch state {
        case .active: .green
        case .background: .yellow
        case .suspended, .notRunning: .grey
        case .inactive: nil
        }
    }

    // MARK: A table

    /// A table of applications.
    ///
    /// - Parameter owners: with the owner of each.
    package static func table(_ applications: [Applications.Application], owners: Bool) -> Table {
        var columns = [
            Table.Column("ID", widthMin: 8), Table.Column("STATE"),
            Table.Column("TASKS", isRight: true), Table.Column("REMAINING", isRight: true),
            Table.Column("AWAY", isRight: true), Table.Column("BADGE", isRight: true),
            Table.Column("PIDS", widthMin: 5),
            Table.Column("LAST RUN", widthMin: 8, isOptional: true),
        ]
        if owners { columns.insert(Table.Column("OWNER", isRight: true), at: 1) }
        let rows = applications.map { application in
            var cells = [
                Table.Cell(application.id),
                Table.Cell(application.state.rawValue, colour(application.state)),
                Table.Cell(String(application.tasks)),
                Table.Cell(application.remainingMs.map(TimeText.span) ?? Table.nothing),
                Table.Cell(application.backgroundMs.map(TimeText.span) ?? Table.nothing),
                Table.Cell(String(application.badge)), Table.Cell(pids(application)),
                Table.Cell(application.lastTermination.map(TerminationText.short) ?? Table.nothing),
            ]
            if owners { cells.insert(Table.Cell(String(application.owner)), at: 1) }
            return cells
        }
        return Table(columns: columns, rows: rows)
    }

    private static func pids(_ application: Applications.Application) -> String {
        guard !application.pids.isEmpty else { return Table.nothing }
        return application.pids.map(String.init).joined(separator: ",")
    }

    // MARK: All fields

    /// Every field of an application, in the order of the interface.
    package static func fields(_ application: Applications.Application) -> Fields {
        let hasProcesses = !application.pids.isEmpty
        var fields = Fields()
        fields.add("id", application.id)
        fields.add("owner", String(application.owner))
        fields.add("state", application.state.rawValue, colour(application.state))
        fields.add("pids", hasProcesses ? pids(application) : nil)
        fields.add("frozen", application.frozen ? "yes" : "no")
        fields.add("remaining", application.remainingMs.map(TimeText.span))
        fields.add("away", application.backgroundMs.map(TimeText.span))
        fields.add("badge", String(application.badge))
        fields.add("tasks", String(application.tasks))
        fields.add("freezer", application.freezer.map(words))
        fields.add("units", application.units?.joined(separator: " "))
        fields.add("last run", application.lastTermination.map(TerminationText.story))
        fields.add("command", application.command.map(CommandText.shown))
        fields.add("profile", application.profile)
        fields.add("handles", application.handles?.map(\.rawValue).joined(separator: " "))
        return fields
    }

    private static func words(for freezer: Applications.Freezer) -> String {
        switch freezer {
        case .cgroup: "its control group"
        case .unit: "the unit that it lives in"
        case .signals: "signals to its processes"
        }
    }
}
