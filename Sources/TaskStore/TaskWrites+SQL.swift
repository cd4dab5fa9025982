/// The texts of the statements that change the store.
enum SQL {
    private static let endColumns = ColumnNames.ofEnd

    static func insert(_ columns: [String], rowCount: Int = 1) -> String {
        let row = "(\(columns.map { _ in "?" }.joined(separator: ", ")))"
        let rows = Array(repeating: row, count: rowCount).joined(separator: ", ")
        return "INSERT INTO tasks (\(columns.joined(separator: ", "))) VALUES " + rows
    }

    static let start =
        "UPDATE tasks SET started_at_us = ?2 "
        + "WHERE id = ?1 AND started_at_us IS NULL AND ended_at_us IS NULL"

    static let undoStart =
        "UPDATE tasks SET started_at_us = NULL "
        + "WHERE id = ? AND started_at_us IS NOT NULL AND ended_at_us IS NULL"

    static let cancel =
        "UPDATE tasks SET is_cancelled = 1 "
        + "WHERE id = ? AND started_at_us IS NOT NULL AND ended_at_us IS NULL"

    /// Of a long command its first word is kept.
    static let end =
        "UPDATE tasks SET \(endColumns.map { "\($0) = ?" }.joined(separator: ", ")), "
        + "environment = NULL, handler_command = NULL, "
        + "command = CASE WHEN length(command) <= \(commandLengthMax) THEN command "
        + "ELSE json_array(substr(json_extract(command, '$[0]'), 1, \(commandLengthMax)), '…') "
        + "END WHERE id = ? AND ended_at_us IS NULL"

    private static let commandLengthMax = 4096

    /// A success is kept where an interval may run from it: of that task itself, of one before it, or of
    /// one that waits.
    static let succeed =
        "INSERT INTO last_successes SELECT owner, name, ended_at_us, interval_ms FROM "
        + "(SELECT owner, name, ended_at_us, max("
        + "coalesce(minimum_interval_ms, -1), "
        + "coalesce((\(intervalAwaited)), -1), "
        + "coalesce((\(intervalKept)), -1)) AS interval_ms "
        + "FROM tasks AS ended WHERE id = ?) WHERE interval_ms >= 0 "
        + keepLongest

    static let keepSuccess = "INSERT INTO last_successes VALUES (?, ?, ?, ?) " + keepLongest

    static let forgetSuccesses =
        "DELETE FROM last_successes WHERE ended_at_us + minimum_interval_ms * 1000 <= ?"

    /// An end that the disk had refused may be written after one that came about later.
    private static let keepLongest =
        "ON CONFLICT (owner, name) DO UPDATE SET "
        + "ended_at_us = max(ended_at_us, excluded.ended_at_us), "
        + "minimum_interval_ms = max(minimum_interval_ms, excluded.minimum_interval_ms)"

    private static let intervalAwaited =
        "SELECT max(minimum_interval_ms) FROM tasks INDEXED BY tasks_live_interval "
        + "WHERE owner = ended.owner AND name = ended.name AND ended_at_us IS NULL "
        + "AND minimum_interval_ms IS NOT NULL"

    private static let intervalKept =
        "SELECT minimum_interval_ms FROM last_successes "
        + "WHERE owner = ended.owner AND name = ended.name"

    static let keepAttempt =
        "INSERT INTO attempts (task, attempt, started_at_us, "
        + "\(endColumns.joined(separator: ", "))) SELECT id, attempt, started_at_us, "
        + "\(endColumns.indices.map { "?\($0 + 2)" }.joined(separator: ", ")) FROM tasks "
        + "WHERE id = ?1 AND started_at_us IS NOT NULL AND ended_at_us IS NULL"

    static let requeue =
        "UPDATE tasks SET attempt = ?2, queued_at_us = ?3, earliest_begin_ms = ?4, "
        + "started_at_us = NULL WHERE id = ?1"

    static let pause = "INSERT INTO paused_groups VALUES (?) ON CONFLICT DO NOTHING"

    static let resume = "DELETE FROM paused_groups WHERE name = ?"

    static let saveApplication =
        "INSERT OR REPLACE INTO applications (\(applicationColumns.joined(separator: ", "))) "
        + "VALUES (\(applicationColumns.map { _ in "?" }.joined(separator: ", ")))"

    static let forgetApplication = "DELETE FROM applications WHERE owner = ? AND id = ?"

    private static let applicationColumns = ColumnNames.ofApplication

    static let reserve = "UPDATE identifiers SET reserved_through = ?"
}
