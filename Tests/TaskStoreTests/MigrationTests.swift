import BudgetCore
import TaskStore
import Testing

@Suite("A file of an earlier version is brought forward with all that is in it")
struct MigrationTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    /// Makes a file of that version.
    private func make(_ version: Int) throws {
        let visitor = try Visitor(folder.database)
        try visitor.execute(
            "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
                + Schema.steps[..<version].joined()
                + "PRAGMA application_id = \(Schema.applicationID); "
                + "PRAGMA user_version = \(version)")
        try visitor.execute(MigrationTests.rows)
    }

    /// The versions before this one.
    private static let earlier = Array(1..<Schema.version)

    /// A task that has ended, one that runs at its second attempt, and one that waits.
    private static let rows = """
        INSERT INTO tasks (id, owner, name, profile, grace_ms, is_cut_by_lifetime, command, priority,
            conditions, minimum_interval_ms, unique_name, retry_attempts, submitted_at_us,
            queued_at_us, started_at_us, attempt, ended_at_us, outcome, used_ms)
            VALUES (3, 1000, 'upload', 'default', 5000, 0, '["true"]', 0,
                NULL, NULL, NULL, NULL, 10, 10, 11, 1, 12, 0, 1),
            (4, 1000, 'upload', 'default', 5000, 0, '["true"]', 2,
                '["idle"]', 600000, 'keep', 3, 10, 13, 14, 2, NULL, NULL, NULL),
            (5, 1000, 'upload', 'default', 5000, 0, '["true"]', 0,
                NULL, NULL, NULL, NULL, 10, 10, NULL, 1, NULL, NULL, NULL);
        INSERT INTO attempts (task, attempt, started_at_us, ended_at_us, outcome, used_ms)
            VALUES (4, 1, 11, 13, 1, 2);
        UPDATE identifiers SET reserved_through = 1000;
        """

    @Test(
        "its tasks and attempts are there, nothing is paused or cancelled, no application is known",
        arguments: earlier)
    func content(version: Int) throws {
        try make(version)
        let store = try folder.open()
        let live = try store.live()
        #expect(live.map(\.id.rawValue) == [4, 5])
        #expect(live.map(\.state) == [.started, .queued])
        #expect(live.allSatisfy { !$0.isCancelled })
        // Which executor they were started by is not known, and none was there.
        #expect(live.allSatisfy { $0.executor == nil })
        let identity = try store.identity()
        // What their submitters were called is not known.
        #expect(live.allSatisfy { $0.work.submitter == Submitter() })
        let first = try #require(live.first)
        #expect(first.attempts.map(\.end.outcome) == [.failed])
        #expect(first.queueing.conditions == .idle)
        #expect(first.queueing.unique == .keep)
        #expect(first.queueing.retry == Retry(attempts: 3))
        #expect(try store.pausedGroups() == [])
        #expect(try store.pausedOwners() == [])
        #expect(try store.dependencies().isEmpty)
        #expect(live.allSatisfy { $0.queueing.slots == 1 && !$0.queueing.isPaused })
        #expect(try store.applications() == [])
        // The latest time of the rows that are there.
        let seen = WallTime(microseconds: 14)
        #expect(try store.openSpans() == OpenSpans(spans: [], numberLast: 0, seenAt: seen))
        #expect(try store.reservedIdentifiers() == TaskID(rawValue: 1000))
        let ended = try store.historyReader().history(countMax: 9).tasks
        #expect(ended.map(\.id.rawValue) == [3])
        // Whether their handlers were run is not known.
        #expect(ended.first?.end?.warnedAt == nil)
        #expect(first.attempts.first?.end.warnedAt == nil)
        let success = WallTime(microseconds: 12)
        #expect(try store.lastSuccesses(of: live) == [first.id: success])
        try store.close()
        #expect(try folder.open().identity() == identity)
    }

    @Test("what version 3 knew of applications is there, and their owners have no name")
    func applications() throws {
        try make(3)
        try Visitor(folder.database).execute(
            "INSERT INTO applications (owner, id, command, exits_on_suspend, background_mode, "
                + "primary_gid, supplementary_gids, badge, is_running) "
                + "VALUES (1000, 'a', '[\"true\"]', 0, 1, 7, '[8]', 3, 0)")
        let application = try #require(try folder.open().applications().first)
        #expect(application.registration.command == ["true"])
        #expect(application.badge == 3)
        let groups = SubmitterGroups(primary: 7, supplementary: [8])
        #expect(application.registration.submitter == Submitter(groups: groups))
    }

    @Test("an application that ran before version 11 has a run that nobody knows")
    func applicationRuns() throws {
        try make(10)
        try Visitor(folder.database).execute(
            "INSERT INTO applications (owner, id, command, exits_on_suspend, background_mode, "
                + "badge, is_running) VALUES (1000, 'a', '[\"true\"]', 0, 0, 0, 1)")
        let store = try folder.open()
        var application = try #require(try store.applications().first)
        #expect(application.isRunning && application.run == nil)
        application.run = 5
        try store.apply([.applicationSaved(application)])
        #expect(try store.applications() == [application])
    }

    @Test("what version 2 brought is there in the present one")
    func queue() throws {
        try make(2)
        try Visitor(folder.database).execute(
            "UPDATE tasks SET is_cancelled = 1 WHERE id = 4; "
                + "INSERT INTO paused_groups VALUES ('night')")
        let store = try folder.open()
        #expect(try store.live().map(\.isCancelled) == [true, false])
        #expect(try store.pausedGroups() == ["night"])
    }

    @Test("the successes that version 4 kept count from now on, and the oldest go")
    func successes() throws {
        try make(4)
        let visitor = try Visitor(folder.database)
        try visitor.execute(
            "INSERT INTO last_successes WITH RECURSIVE n(i) AS "
                + "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) "
                + "SELECT 1000, printf('%.200c%d', 'x', i), i, 1000000000000 FROM n")
        let store = try folder.open()
        let bounds = HistoryBounds(countMax: 1000, bytesMax: 1 << 20, ageMax: nil)
        while try !store.prune(to: bounds, at: WallTime(microseconds: 20)).isComplete {}
        let kept = try visitor.rows("SELECT count(*), min(ended_at_us) FROM last_successes")
        let count = try Int(visitor.rows("SELECT count(*) FROM last_successes").joined()) ?? 0
        #expect((1000..<2000).contains(count))
        #expect(kept == ["\(count)|\(4001 - count)"])
    }

    @Test(
        "it takes what the new version writes, and its view, its indexes and its words are right",
        arguments: earlier)
    func layout(version: Int) throws {
        try make(version)
        let store = try folder.open()
        let id = TaskID(rawValue: 4)
        let application = Samples.application("org.example.player")
        try store.apply([
            .cancelling(id), .groupPaused("night", true), .applicationSaved(application),
        ])
        #expect(try store.live().map(\.isCancelled) == [true, false])
        #expect(try store.applications() == [application])
        try store.apply([.ended(id, Samples.end(1))])
        let visitor = try Visitor(folder.database)
        #expect(try visitor.rows("PRAGMA user_version") == ["\(Schema.version)"])
        #expect(try visitor.rows("PRAGMA integrity_check") == ["ok"])
        #expect(
            try visitor.rows("SELECT id, state, attempt FROM tasks_readable ORDER BY id")
                == ["3|ended|1", "4|ended|2", "5|queued|1"])
        let made = try Folder()
        _ = try made.open()
        let layout = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"
        #expect(try visitor.rows(layout) == Visitor(made.database).rows(layout))
        let table = try visitor.rows("SELECT sql FROM sqlite_schema WHERE name = 'tasks'").joined()
        #expect(table.contains("is_cancelled INTEGER"))
        #expect(table.contains("/* 1: it was cancelled while it ran"))
    }

    @Test(
        "a step that cannot be taken leaves the file as it was, and those before it are not taken",
        arguments: [
            (1, "paused_groups"), (1, "applications"), (2, "applications"),
            (4, "last_successes_oldest"), (5, "dependencies"), (5, "paused_owners"),
            (6, "submissions"), (7, "application_spans"), (8, "application_spans_ended"),
            (9, "folder_identity"),
        ])
    func refused(version: Int, table: String) throws {
        try make(version)
        try Visitor(folder.database).execute("CREATE TABLE \(table) (a)")
        #expect(folder.refusal()?.operation == "migrate")
        let visitor = try Visitor(folder.database)
        #expect(try visitor.rows("PRAGMA user_version") == ["\(version)"])
        let columns = try visitor.rows("SELECT name FROM pragma_table_info('tasks')")
        #expect(columns.contains("is_cancelled") == (version >= 2))
        #expect(columns.contains("user_name") == (version >= 4))
    }
}
