/// The texts of the statements that change the store.
package enum SQL {
    private static let endColumns = ColumnNames.ofEnd

    static func insert(_ columns: [String], rowCount: Int = 1) -> String {
        let row = "(\(columns.map { _ in "?" }.joined(separator: ", ")))"
        let rows = Array(repeating: row, count: rowCount).joined(separator: ", ")
        return "INSERT INTO tasks (\(columns.joined(separator: ", "))) VALUES " + rows
    }

    static let start =
        "UPDATE tasks SET started_at_us = ?2, executor = ?3 "
        + "WHERE id = ?1 AND started_at_us IS NULL AND ended_at_us IS NULL"

    static let undoStart =
        "UPDATE tasks SET started_at_us = NULL, executor = NULL "
        + "WHERE id = ? AND started_at_us IS NOT NULL AND ended_at_us IS NULL"

    static let cancel =
        "UPDATE tasks SET is_cancelled = 1 "
        + "WHERE id = ? AND started_at_us IS NOT NULL AND ended_at_us IS NULL"

    /// Cuts what is kept of an ended task: a long command to its first word, a long folder to its beginning, and the
    /// groups to the first. Answers with the row's `KeptRow` columns.
    static let end =
        "UPDATE tasks SET \(endColumns.map { "\($0) = ?" }.joined(separator: ", ")), "
        + (workColumns + ["executor"]).map { "\($0) = NULL, " }.joined()
        + "supplementary_gids = "
        + "CASE WHEN supplementary_gids IS NULL THEN NULL ELSE '[]' END, "
        + "command = CASE WHEN \(bytes("command")) <= \(commandBytesMax) THEN command "
        + "ELSE json_array(substr(json_extract(command, '$[0]'), 1, \(wordLengthMax)), '…') END, "
        + "directory = CASE WHEN \(bytes("directory")) <= \(directoryBytesMax) THEN directory "
        + "ELSE substr(directory, 1, \(directoryLengthMax)) || '…' END "
        + "WHERE id = ? AND ended_at_us IS NULL RETURNING \(keptRow)"

    /// Keeps what `end` cuts, of a task that is about to end.
    static let keepSubmission =
        "INSERT INTO submissions SELECT id, 0, \(submissionBytes) + "
        + (["coalesce(\(bytes(longCommand)), 0)", "coalesce(\(bytes(longDirectory)), 0)"]
        + workColumns.map { "coalesce(\(bytes($0)), 0)" }).joined(separator: " + ")
        + ", \(longCommand), \(longDirectory), \(workColumns.joined(separator: ", ")) FROM tasks "
        + "WHERE id = ? AND ended_at_us IS NULL AND coalesce(\(longCommand), \(longDirectory), "
        + "\(workColumns.joined(separator: ", "))) IS NOT NULL"

    static let forgetSubmission = "DELETE FROM submissions WHERE task = ?"

    /// What `end` takes out of a row.
    private static let workColumns = ["environment", "handler_command", "input"]

    /// What `end` cuts; else NULL.
    private static let longCommand =
        "CASE WHEN \(bytes("command")) > \(commandBytesMax) THEN command END"
    private static let longDirectory =
        "CASE WHEN \(bytes("directory")) > \(directoryBytesMax) THEN directory END"

    /// What a row there takes without its texts.
    private static let submissionBytes = 32

    private static let commandBytesMax = 4096
    private static let directoryBytesMax = 1024
    /// In characters, none of which is torn, of four bytes at most.
    private static let wordLengthMax = commandBytesMax / 4
    private static let directoryLengthMax = directoryBytesMax / 4

    /// What an ended task takes on the disk, about: the row, its entries in the indexes, its attempts, and what it was
    /// submitted with.
    static let keptRow =
        "id, owner, \(rowBytes) + "
        + [
            "command", "directory", "profile", "conditions", "reason", "reason_text",
            "after_completed", "after_ended",
        ]
        .map { "coalesce(\(bytes($0)), 0)" }.joined(separator: " + ")
        + " + 3 * length(CAST(name AS BLOB)) + 2 * coalesce(\(bytes("application")), 0)"
        + " + 2 * coalesce(\(bytes("group_name")), 0)"
        + " + CASE WHEN attempt > 1 THEN (SELECT coalesce(sum(\(attemptBytes) + "
        + "coalesce(\(bytes("reason_text")), 0)), 0) FROM attempts WHERE task = id) ELSE 0 END"
        + " + coalesce((SELECT size FROM submissions WHERE task = id), 0)"

    /// What a row takes without its texts, and an attempt.
    private static let rowBytes = 320
    private static let attemptBytes = 80

    /// How many bytes a text has.
    private static func bytes(_ column: String) -> String { "length(CAST(\(column) AS BLOB))" }

    /// A success is kept where an interval may run from it, which is not negative: of that task itself, of one
    /// before it, or of one that waits. Answers with whether none is kept yet, too.
    package static let success =
        "SELECT owner, name, ended_at_us, max("
        + "coalesce(minimum_interval_ms, -1), "
        + "coalesce((\(intervalAwaited)), -1), "
        + "coalesce((\(intervalKept)), -1)), (\(intervalKept)) IS NULL "
        + "FROM tasks AS ended WHERE id = ?"

    static let keepSuccess = "INSERT INTO last_successes VALUES (?, ?, ?, ?) " + keepLongest

    package static let forgetSuccess = "DELETE FROM last_successes WHERE owner = ? AND name = ?"

    /// An end that the disk refused at first may be written after a later one.
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
        + "started_at_us = NULL, executor = NULL WHERE id = ?1"

    static let pause = "INSERT INTO paused_groups VALUES (?) ON CONFLICT DO NOTHING"

    static let resume = "DELETE FROM paused_groups WHERE name = ?"

    static let pauseOwner = "INSERT INTO paused_owners VALUES (?) ON CONFLICT DO NOTHING"

    static let resumeOwner = "DELETE FROM paused_owners WHERE owner = ?"

    static let orderSlots =
        "INSERT INTO slot_orders VALUES (?, ?) "
        + "ON CONFLICT (group_name) DO UPDATE SET slots = excluded.slots"

    static let forgetSlots = "DELETE FROM slot_orders WHERE group_name = ?"

    static let change =
        "UPDATE tasks SET group_name = ?2, priority = ?3, earliest_begin_ms = ?4, conditions = ?5, "
        + "slots = ?6, is_paused = ?7, queued_at_us = ?8 "
        + "WHERE id = ?1 AND started_at_us IS NULL AND ended_at_us IS NULL"

    static let addDependency =
        "INSERT INTO dependencies VALUES (?1, ?2, ?3, coalesce(?4, "
        + "(SELECT outcome FROM tasks WHERE id = ?1 AND ended_at_us IS NOT NULL)))"

    static let endDependency =
        "UPDATE dependencies SET outcome = ?2 WHERE predecessor = ?1 AND outcome IS NULL"

    static let forgetDependencies = "DELETE FROM dependencies WHERE task = ?"

    static let saveApplication =
        "INSERT OR REPLACE INTO applications (\(applicationColumns.joined(separator: ", "))) "
        + "VALUES (\(applicationColumns.map { _ in "?" }.joined(separator: ", ")))"

    /// When a span began stays as it was written first.
    static let saveSpan =
        "INSERT INTO application_spans (\(spanColumns.joined(separator: ", "))) "
        + "VALUES (\(spanColumns.map { _ in "?" }.joined(separator: ", "))) "
        + "ON CONFLICT (id) DO UPDATE SET state = excluded.state, "
        + "ended_at_us = excluded.ended_at_us, seen_at_us = excluded.seen_at_us, "
        + "termination_reason = excluded.termination_reason"

    private static let spanColumns = ColumnNames.ofSpan

    static let forgetApplication = "DELETE FROM applications WHERE owner = ? AND id = ?"

    private static let applicationColumns = ColumnNames.ofApplication

    static let reserve = "UPDATE identifiers SET reserved_through = ?"
}
