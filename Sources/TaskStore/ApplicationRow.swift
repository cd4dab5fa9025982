internal import BudgetCore

/// The columns of the table `applications`, which are listed here alone.
struct ApplicationRow {
    var owner: Int64 = 0
    var id = ""
    var command: String?
    var directory: String?
    var environment: String?
    var exitsOnSuspend: Int64 = 0
    var backgroundMode: Int64 = 0
    var profile: String?
    var handles: String?
    var primaryGroup: Int64?
    var supplementaryGroups: String?
    var userName: String?
    var noNewPrivileges: Int64 = 0
    var badge: Int64 = 0
    var isRunning: Int64 = 0
    var units: String?
    var endedAtUs: Int64?
    var terminationReason: Int64?
    var exitStatus: Int64?
    var exitSignal: Int64?
    var backgroundMs: Int64?
    var held: String?
    var run: Int64?

    mutating func visit<V: ColumnVisitor>(_ row: inout V) throws(V.Failure) {
        try row.column("owner", &owner)
        try row.column("id", &id)
        try row.column("command", &command)
        try row.column("directory", &directory)
        try row.column("environment", &environment)
        try row.column("exits_on_suspend", &exitsOnSuspend)
        try row.column("background_mode", &backgroundMode)
        try row.column("profile", &profile)
        try row.column("handles", &handles)
        try row.column("primary_gid", &primaryGroup)
        try row.column("supplementary_gids", &supplementaryGroups)
        try row.column("user_name", &userName)
        try row.column("no_new_privs", &noNewPrivileges)
        try row.column("badge", &badge)
        try row.column("is_running", &isRunning)
        try row.column("units", &units)
        try row.column("ended_at_us", &endedAtUs)
        try row.column("termination_reason", &terminationReason)
        try row.column("exit_status", &exitStatus)
        try row.column("exit_signal", &exitSignal)
        try row.column("background_ms", &backgroundMs)
        try row.column("held", &held)
        try row.column("run", &run)
    }
}

extension ApplicationRow {
    init(_ application: StoredApplication) {
        owner = Int64(application.key.owner.rawValue)
        id = application.key.id
        badge = Int64(application.badge)
        isRunning = application.isRunning ? 1 : 0
        run = application.run.map { Int64(clamping: $0) }
        units = application.units.isEmpty ? nil : JSONText.array(of: application.units)
        setRegistration(application.registration)
        if let termination = application.lastTermination { setTermination(termination) }
    }

    private mutating func setRegistration(_ registration: Registration) {
        command = registration.command.map(JSONText.array)
        directory = registration.directory
        let members = registration.environment
        environment = members.isEmpty ? nil : JSONText.object(of: members)
        exitsOnSuspend = registration.exitsOnSuspend ? 1 : 0
        backgroundMode = registration.hasBackgroundMode ? 1 : 0
        profile = registration.profile
        handles = registration.handles.map { JSONText.array(of: $0.words) }
        let submitter = registration.submitter
        primaryGroup = submitter.groups.map { Int64($0.primary) }
        supplementaryGroups = submitter.groups.map { JSONText.array(of: $0.supplementary) }
        userName = submitter.name
        noNewPrivileges = submitter.hasNoNewPrivileges ? 1 : 0
    }

    private mutating func setTermination(_ termination: StoredTermination) {
        endedAtUs = termination.at.microseconds
        terminationReason = termination.reason.code
        switch termination.exit {
        case .status(let status): exitStatus = Int64(status)
        case .signal(let signal): exitSignal = Int64(signal.rawValue)
        case nil: break
        }
        backgroundMs = termination.background.map(milliseconds)
        held = termination.held.isEmpty ? nil : JSONText.array(of: termination.held)
    }

    /// The application that the row describes.
    func application(_ path: String) throws(StoreError) -> StoredApplication {
        let check = RowCheck(path: path, subject: "application \(id) of user \(owner)")
        let user = try check.known(UInt32(exactly: owner), "owner")
        return StoredApplication(
            key: ApplicationKey(owner: OwnerID(rawValue: user), id: id),
            registration: try registration(check),
            badge: Int(badge),
            isRunning: isRunning != 0,
            run: try run.map { number throws(StoreError) in
                try check.known(UInt64(exactly: number), "run")
            },
            units: try units.map { text throws(StoreError) in
                try check.known(JSONText.units(text), "units")
            } ?? [],
            lastTermination: try termination(check))
    }

    private func registration(_ check: RowCheck) throws(StoreError) -> Registration {
        var registration = Registration()
        if let command {
            registration.command = try check.known(JSONText.strings(command), "command")
        }
        registration.directory = directory
        if let environment {
            registration.environment = try check.known(
                JSONText.members(environment), "environment")
        }
        registration.exitsOnSuspend = exitsOnSuspend != 0
        registration.hasBackgroundMode = backgroundMode != 0
        registration.profile = profile
        if let handles {
            let words = try check.known(JSONText.strings(handles), "handles")
            registration.handles = try check.known(Callbacks(words: words), "handles")
        }
        registration.submitter = Submitter(
            name: userName, groups: try check.groups(primaryGroup, supplementaryGroups),
            hasNoNewPrivileges: noNewPrivileges != 0)
        return registration
    }

    /// The end that the columns describe; `nil` where they say that there is none.
    private func termination(_ check: RowCheck) throws(StoreError) -> StoredTermination? {
        guard let endedAtUs else { return nil }
        let reason = terminationReason.flatMap(TerminationReason.init(code:))
        var termination = StoredTermination(
            at: WallTime(microseconds: endedAtUs),
            reason: try check.known(reason, "termination_reason"),
            background: backgroundMs.map { .milliseconds($0) })
        if let status: Int32 = try check.number(exitStatus, "exit_status") {
            termination.exit = .status(status)
        } else if let signal: Int32 = try check.number(exitSignal, "exit_signal") {
            termination.exit = .signal(SignalNumber(rawValue: signal))
        }
        if let held { termination.held = try check.known(JSONText.heldTasks(held), "held") }
        return termination
    }
}

extension ColumnNames {
    static let ofApplication: [String] = {
        var row = ApplicationRow()
        var visitor = ColumnNames()
        row.visit(&visitor)
        return visitor.names
    }()
}
