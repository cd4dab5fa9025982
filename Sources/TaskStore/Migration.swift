/// Brings a database to the layout that this version works with, forward only.
struct Migration {
    let connection: Connection
    let applicationID: Int64
    /// What brings a database from one version to the next.
    let steps: [String]

    /// One of a store of tasks, where nothing else is said.
    init(
        connection: Connection, applicationID: Int64 = Schema.applicationID,
        steps: [String] = Schema.steps
    ) {
        self.connection = connection
        self.applicationID = applicationID
        self.steps = steps
    }

    /// Checks that the file is one of these, empty or of a version that is known.
    ///
    /// - Returns: the version; 0 where the file is empty.
    func check() throws(StoreError) -> Int {
        let application = try connection.number("PRAGMA application_id", "open")
        let version = Int(try connection.number("PRAGMA user_version", "open"))
        let objects = try connection.number("SELECT count(*) FROM sqlite_schema", "open")
        if application == 0, version == 0, objects == 0 { return 0 }
        guard application == applicationID, version > 0 else {
            throw StoreError(
                cause: .foreign, operation: "open", path: connection.path,
                text: "a database of another program; move it away to start with an empty store")
        }
        guard version <= steps.count else {
            throw StoreError(
                cause: .newer(version), operation: "open", path: connection.path,
                text: "written by a later bgtaskd (layout \(version), this one knows "
                    + "\(steps.count)); start that one, or move the file away")
        }
        return version
    }

    /// Takes the steps that are missing, all in one transaction.
    func run(from version: Int) throws(StoreError) {
        guard version < steps.count else { return }
        try connection.transaction("migrate") { () throws(StoreError) in
            for step in steps[version...] { try connection.execute(step, "migrate") }
            try connection.execute(
                "PRAGMA application_id = \(applicationID); "
                    + "PRAGMA user_version = \(steps.count)", "migrate")
        }
    }
}
