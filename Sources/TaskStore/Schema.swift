/// The layout of the database. Its comments are kept in the file, so that `.schema` in sqlite3(1) shows
/// them; a user may read the tables, and nobody else writes them.
package enum Schema {
    /// `application_id`: "bgtk" in ASCII; see file(1) and sqlite.org, PRAGMA application_id.
    package static let applicationID: Int64 = 0x6267_746B

    /// What brings a database from one version to the next; the first makes the tables. The version of a
    /// database (`user_version`) is the number of steps that it has been through.
    package static let steps = [
        version1, version2, version3, version4, version5, version6, version7, version8, version9,
        version10, version11,
    ]

    package static var version: Int { steps.count }

    private static let version1 = [tasks, ends, attempts, successes, identifiers, views].joined()

    /// What the queue needs besides.
    private static let version2 = """
        ALTER TABLE tasks ADD COLUMN is_cancelled INTEGER
            /* 1: it was cancelled while it ran, so that no attempt follows */ NOT NULL DEFAULT 0;
        CREATE TABLE paused_groups (
            -- Groups from which nothing starts, until they are resumed.
            name TEXT PRIMARY KEY NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tasks_completed ON tasks (owner, name, ended_at_us) WHERE outcome = 0;
        CREATE INDEX tasks_live_interval ON tasks (owner, name, minimum_interval_ms)
            WHERE ended_at_us IS NULL AND minimum_interval_ms IS NOT NULL;
        CREATE INDEX last_successes_over ON last_successes
            (ended_at_us + minimum_interval_ms * 1000);

        """

    /// What is known of applications.
    private static let version3 = """
        CREATE TABLE applications (
            -- One row an application, until it is unregistered. Times ending in _at_us are
            -- microseconds since 1970-01-01 00:00 UTC.
            owner INTEGER NOT NULL,              -- uid of who registered it
            id TEXT NOT NULL,                    -- that its owner gave it
            command TEXT,                        -- a JSON array; NULL: it can only be adopted
            directory TEXT,
            environment TEXT,                    -- a JSON object; NULL: none was given
            exits_on_suspend INTEGER NOT NULL,   -- 1: terminated where others are suspended
            background_mode INTEGER NOT NULL,    -- 1: no limit in the background, never suspended
            profile TEXT,                        -- of its background time; NULL: as in the settings
            handles TEXT,                        -- a JSON array of callbacks; NULL: all of them
            primary_gid INTEGER,                 -- groups of the owner; NULL: the daemon's own
            supplementary_gids TEXT,             -- a JSON array
            badge INTEGER NOT NULL,
            is_running INTEGER NOT NULL,         -- 1: runs, or did when its daemon was stopped
            units TEXT,                          -- of an adopted one: a JSON array of objects with
                                                 -- name and user; without user it is the system's
            ended_at_us INTEGER,                 -- of its last run; NULL: it never ended
            termination_reason INTEGER,          -- 0 exited, 1 crashed, 2 terminated,
                                                 -- 3 memoryPressure, 4 backgroundTimeOverrun,
                                                 -- 5 messageOverrun, 6 exitsOnSuspend,
                                                 -- 7 interrupted, 8 taskOverrun
            exit_status INTEGER,                 -- of the main process
            exit_signal INTEGER,                 -- that ended it instead
            background_ms INTEGER,               -- in the background until then; NULL: in front
            held TEXT,                           -- a JSON array of the tasks that it held: objects
                                                 -- with id, name, ageMs, durationMs, graceMs
            PRIMARY KEY (owner, id)
        ) STRICT, WITHOUT ROWID;

        """

    /// With which rights commands are started.
    private static let version4 = ["tasks", "applications"].map { table in
        """
        ALTER TABLE \(table) ADD COLUMN user_name TEXT
            /* of the owner when it came; empty: had none; NULL: not known */;
        ALTER TABLE \(table) ADD COLUMN no_new_privs INTEGER
            /* 1: its processes cannot get more rights */ NOT NULL DEFAULT 0;

        """
    }.joined()

    /// Which of an owner's successes go first.
    private static let version5 = """
        CREATE INDEX last_successes_oldest ON last_successes (owner, ended_at_us)
            /* of who takes more than the others the oldest go, where all together are too much */;

        """

    /// Tasks that come after others, that take several slots, that somebody holds back.
    private static let version6 = """
        ALTER TABLE tasks ADD COLUMN slots INTEGER
            /* of the daemon, and of its group, that it takes */ NOT NULL DEFAULT 1;
        ALTER TABLE tasks ADD COLUMN is_paused INTEGER
            /* 1: it is not started until it is resumed */ NOT NULL DEFAULT 0;
        ALTER TABLE tasks ADD COLUMN after_completed TEXT
            /* a JSON array of the tasks that have to have completed before it; NULL after the end */;
        ALTER TABLE tasks ADD COLUMN after_ended TEXT
            /* the same of those that have to have ended, whatever the outcome */;
        ALTER TABLE tasks ADD COLUMN input TEXT
            /* what it reads as its standard input, in base64; NULL after the end */;
        CREATE TABLE dependencies (
            -- What tasks that have not ended waited for when they were submitted.
            predecessor INTEGER NOT NULL,
            task INTEGER NOT NULL,
            any_outcome INTEGER NOT NULL,        -- 1: it need not have completed
            outcome INTEGER,                     -- how the predecessor ended; NULL: it has not
            PRIMARY KEY (predecessor, task)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX dependencies_task ON dependencies (task);
        CREATE TABLE slot_orders (
            -- How many slots there are by an operator's order, in the place of the settings.
            group_name TEXT PRIMARY KEY NOT NULL, -- empty: those of the daemon
            slots INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE paused_owners (
            -- Users of whom nothing starts, until they are resumed.
            owner INTEGER PRIMARY KEY
        ) STRICT;

        """

    /// What ended tasks are run again with; of those that ended before it is not known.
    private static let version7 = """
        ALTER TABLE tasks ADD COLUMN restart_of INTEGER
            /* the ended task that this one repeats */;
        CREATE TABLE submissions (
            -- What ended tasks were submitted with, of what their rows do not keep. Goes with the task.
            task INTEGER PRIMARY KEY,
            is_lost INTEGER NOT NULL,            -- 1: it was not kept
            size INTEGER NOT NULL,               -- bytes that it takes here, about
            command TEXT,                        -- a JSON array, where the row has it cut
            directory TEXT,                      -- where the row has it cut
            environment TEXT,                    -- a JSON object; NULL: none was given
            handler_command TEXT,                -- a JSON array; NULL: none
            input TEXT                           -- in base64; NULL: none
        ) STRICT;
        INSERT INTO submissions (task, is_lost, size)
            SELECT id, 1, 0 FROM tasks WHERE ended_at_us IS NOT NULL;

        """

    /// When tasks were told that their time was nearly over; of those that ended before it is not known.
    private static let version8 = ["tasks", "attempts"].map { table in
        """
        ALTER TABLE \(table) ADD COLUMN warned_at_us INTEGER
            /* when its expiration handler was last run; NULL: it was not */;

        """
    }.joined()

    /// In which states applications were.
    private static let version9 = """
        CREATE TABLE application_spans (
            -- One row a span of time in which an application was in one state, kept some time after its
            -- end ([store] historyMax, historyAge). Times ending in _at_us are microseconds since
            -- 1970-01-01 00:00 UTC.
            id INTEGER PRIMARY KEY,              -- in the order in which they began
            owner INTEGER NOT NULL,              -- uid of who registered the application
            application TEXT NOT NULL,           -- the id that its owner gave it
            state INTEGER NOT NULL,              -- 0 notRunning, 1 inactive, 2 active, 3 background,
                                                 -- 4 suspended
            began_at_us INTEGER NOT NULL,
            ended_at_us INTEGER,                 -- NULL: it went on when it was written
            seen_at_us INTEGER,                  -- of one that no daemon saw end: when one last wrote
                                                 -- anything; NULL: its end was seen
            termination_reason INTEGER           -- of notRunning: why the run before it ended, as in
                                                 -- applications
        ) STRICT;
        CREATE INDEX application_spans_open ON application_spans (id) WHERE ended_at_us IS NULL;
        CREATE INDEX application_spans_ended ON application_spans (ended_at_us)
            WHERE ended_at_us IS NOT NULL;
        CREATE INDEX application_spans_owner ON application_spans (owner, ended_at_us)
            WHERE ended_at_us IS NOT NULL;
        CREATE INDEX application_spans_application
            ON application_spans (application, ended_at_us, id, owner)
            WHERE ended_at_us IS NOT NULL;

        """

    /// Which program runs commands, and for whom.
    private static let version10 = """
        ALTER TABLE tasks ADD COLUMN executor TEXT
            /* which run of the executor this attempt is started by, 32 hexadecimal digits; NULL: none */;
        CREATE TABLE folder_identity (
            -- One row: by this number an executor knows whose commands it runs.
            number TEXT NOT NULL                 -- 32 hexadecimal digits, drawn once
        ) STRICT;
        INSERT INTO folder_identity VALUES (lower(hex(randomblob(16))));

        """

    /// Launched applications go on from one daemon to the next.
    private static let version11 = """
        ALTER TABLE applications ADD COLUMN run INTEGER
            /* the number of its run, by which the executor knows its command; NULL: none */;

        """

    private static let tasks = """
        CREATE TABLE tasks (
            -- One row a run task, kept some time after its end ([store] historyMax, historyAge).
            -- Times ending in _at_us are microseconds since 1970-01-01 00:00 UTC.
            id INTEGER PRIMARY KEY,
            owner INTEGER NOT NULL,              -- uid of who submitted it
            name TEXT NOT NULL,
            application TEXT,
            profile TEXT NOT NULL,
            duration_ms INTEGER,                 -- the hard limit; NULL: none
            grace_ms INTEGER NOT NULL,           -- the handler fires this long before the hard limit
            lifetime_max_ms INTEGER,             -- over all extensions; NULL: no limit
            is_cut_by_lifetime INTEGER NOT NULL, -- 1: lifetime_max_ms cut the duration asked for
            command TEXT NOT NULL,               -- a JSON array; cut at the end where it is long
            directory TEXT,
            environment TEXT,                    -- a JSON object; NULL after the end
            handler_signal INTEGER,              -- of the expiration handler; NULL: none
            handler_command TEXT,                -- a JSON array; NULL: none
            primary_gid INTEGER,                 -- groups of the submitter; NULL: the daemon's own
            supplementary_gids TEXT,             -- a JSON array
            group_name TEXT,
            priority INTEGER NOT NULL,           -- higher runs first
            earliest_begin_ms INTEGER,           -- counted from queued_at_us
            conditions TEXT,                     -- a JSON array of network, externalPower, idle
            minimum_interval_ms INTEGER,         -- since the last success of this owner and name
            unique_name TEXT,                    -- keep or replace; NULL: names may repeat
            retry_attempts INTEGER,              -- the first included; NULL: no retries
            retry_delay_ms INTEGER,
            retry_on_interruption INTEGER,
            submitted_at_us INTEGER NOT NULL,
            queued_at_us INTEGER NOT NULL,       -- the submission, or the end of the attempt before
            started_at_us INTEGER,               -- of this attempt; NULL: waits, or never started
            attempt INTEGER NOT NULL,            -- from 1; those before it are in attempts
            ended_at_us INTEGER,                 -- NULL: queued or started
            outcome INTEGER,                     -- 0 completed, 1 failed, 2 expired, 3 overrun,
                                                 -- 4 cancelled, 5 abandoned, 6 interrupted
            exit_status INTEGER,                 -- of the main process
            exit_signal INTEGER,                 -- that ended it instead
            reason TEXT,                         -- why it was stopped or told to end
            reason_uid INTEGER,                  -- who cancelled it
            reason_text TEXT,                    -- in their words, or the error of the start
            used_ms INTEGER,                     -- how long the clock of its budget ran
            cpu_ms INTEGER,
            memory_peak_bytes INTEGER
        ) STRICT;
        CREATE INDEX tasks_live ON tasks (id) WHERE ended_at_us IS NULL;

        """

    /// An index for each way to ask for the history, in the order of its pages; the columns behind the id
    /// let a second condition be decided without the row.
    private static let ends = """
        CREATE INDEX tasks_ended ON tasks (ended_at_us)
            WHERE ended_at_us IS NOT NULL;
        CREATE INDEX tasks_ended_outcome ON tasks (outcome, ended_at_us)
            WHERE ended_at_us IS NOT NULL;
        CREATE INDEX tasks_ended_owner ON tasks (owner, ended_at_us, id, outcome)
            WHERE ended_at_us IS NOT NULL;
        CREATE INDEX tasks_ended_name ON tasks (name, ended_at_us, id, owner, outcome)
            WHERE ended_at_us IS NOT NULL;
        CREATE INDEX tasks_ended_application ON tasks (application, ended_at_us, id, owner, outcome)
            WHERE ended_at_us IS NOT NULL AND application IS NOT NULL;
        CREATE INDEX tasks_ended_group ON tasks (group_name, ended_at_us, id, owner, outcome)
            WHERE ended_at_us IS NOT NULL AND group_name IS NOT NULL;

        """

    private static let attempts = """
        CREATE TABLE attempts (
            -- Attempts after which a task was queued again; the last one is in tasks.
            task INTEGER NOT NULL,
            attempt INTEGER NOT NULL,
            started_at_us INTEGER,
            ended_at_us INTEGER NOT NULL,
            outcome INTEGER NOT NULL,
            exit_status INTEGER,
            exit_signal INTEGER,
            reason TEXT,
            reason_uid INTEGER,
            reason_text TEXT,
            used_ms INTEGER NOT NULL,
            cpu_ms INTEGER,
            memory_peak_bytes INTEGER,
            PRIMARY KEY (task, attempt)
        ) STRICT, WITHOUT ROWID;

        """

    private static let successes = """
        CREATE TABLE last_successes (
            -- The last completed task of each owner and name for which a minimum interval was asked; a
            -- row stays until that interval is over, however short the history is.
            owner INTEGER NOT NULL,
            name TEXT NOT NULL,
            ended_at_us INTEGER NOT NULL,
            minimum_interval_ms INTEGER NOT NULL, -- the longest that was asked for
            PRIMARY KEY (owner, name)
        ) STRICT, WITHOUT ROWID;

        """

    private static let identifiers = """
        CREATE TABLE identifiers (
            -- One row. Ids up to this one may have been used, and are never handed out again.
            reserved_through INTEGER NOT NULL
        ) STRICT;
        INSERT INTO identifiers VALUES (0);
        CREATE TABLE probes (
            -- One row. It is written to see whether the disk takes it, after it did not.
            count INTEGER NOT NULL
        ) STRICT;
        INSERT INTO probes VALUES (0);

        """

    private static let views = """
        CREATE VIEW tasks_readable AS
            -- The tasks with words for numbers, and times on the clock of whoever reads.
            SELECT id, owner, name, application, group_name,
                CASE WHEN ended_at_us IS NOT NULL THEN 'ended'
                    WHEN started_at_us IS NOT NULL THEN 'started' ELSE 'queued' END AS state,
                CASE outcome WHEN 0 THEN 'completed' WHEN 1 THEN 'failed' WHEN 2 THEN 'expired'
                    WHEN 3 THEN 'overrun' WHEN 4 THEN 'cancelled' WHEN 5 THEN 'abandoned'
                    WHEN 6 THEN 'interrupted' END AS outcome,
                exit_status, exit_signal, reason, reason_text, attempt, used_ms, command,
                strftime('%Y-%m-%d %H:%M:%f', submitted_at_us / 1e6, 'unixepoch', 'localtime')
                    AS submitted_at,
                strftime('%Y-%m-%d %H:%M:%f', started_at_us / 1e6, 'unixepoch', 'localtime')
                    AS started_at,
                strftime('%Y-%m-%d %H:%M:%f', ended_at_us / 1e6, 'unixepoch', 'localtime')
                    AS ended_at
            FROM tasks;

        """
}
