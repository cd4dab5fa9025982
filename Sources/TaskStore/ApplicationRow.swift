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
