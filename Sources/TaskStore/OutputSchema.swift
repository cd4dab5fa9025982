/// The layout of the database of outputs. As of the store of tasks, its comments are kept in the file.
package enum OutputSchema {
    /// `application_id`: "bgto" in ASCII.
    package static let applicationID: Int64 = 0x6267_746F

    /// What brings a database from one version to the next; the first makes the tables.
    package static let steps = [outputs + chunks, times, handedOver]

    private static let outputs = """
        CREATE TABLE outputs (
            -- One row a task that has ended, while its output is kept ([store] outputBytesMax).
            number INTEGER PRIMARY KEY,          -- in the order of the ends
            task INTEGER NOT NULL UNIQUE,
            owner INTEGER NOT NULL,              -- uid of who submitted it
            start_byte INTEGER NOT NULL,         -- of what it printed: the first that is kept
            end_byte INTEGER NOT NULL,           -- how many it printed
            size INTEGER NOT NULL                -- bytes that it takes here, about
        ) STRICT;
        CREATE INDEX outputs_owner ON outputs (owner, number, size);

        """

    private static let times = """
        ALTER TABLE outputs ADD COLUMN times BLOB
            /* when it was printed: the time in µs within which marks are dropped, then marks, each
               the position of a byte and when that was printed, in µs since 1970; eight bytes each,
               little-endian; NULL: not known */;

        """

    private static let handedOver = """
        ALTER TABLE outputs ADD COLUMN handed_over INTEGER
            /* 0: its task has ended; 1: it had not, and the daemon that writes this ends; 2: the same,
               and another daemon has taken it since, which may have more of it */ NOT NULL DEFAULT 0;
        CREATE INDEX outputs_handed_over ON outputs (task) WHERE handed_over > 0;

        """

    private static let chunks = """
        CREATE TABLE chunks (
            -- What a task printed.
            task INTEGER NOT NULL,
            start_byte INTEGER NOT NULL,         -- of its first byte
            text BLOB NOT NULL,
            runs BLOB NOT NULL,                  -- where bytes of one stream end in the text, two
                                                 -- bytes each, little-endian; 0x8000: stderr
            PRIMARY KEY (task, start_byte)
        ) STRICT;

        """
}
