/// Brings a database to the layout that this version works with, forward only.
struct Migration {
    let connection: Connection

    /// Checks that the file is a store of tasks, empty or of a version that is known.
    ///
    /// - Returns: the version; 0 where the file is empty.
    func check() throws(StoreError) -> Int {
        let application = try connection.number("PRAGMA application_id", "open")
        let version = Int(try connection.number("PRAGMA user_version", "open"))
        let objects = try connection.number("SELECT count(*) FROM sqlite_schema", "open")
        if application == 0, version == 0, objects == 0 { return 0 }
        guard application == Schema.applicationID, version > 0 else {
            throw StoreError(
                cause: .foreign, operation: "open", path: connection.path,
                text: "a database of another program; move it away to start with an empty store")
        }
        guard version <= Schema.version else {
            throw StoreError(
                cause: .newer(version), operation: "open", path: connection.path,
                text: "written by a later bgtaskd (layout \(version), this one knows "
                    + "\(Schema.version)); start that one, or move the file away")
        }
        return version
    }

    /// Takes the steps that are missing, all in one transaction.
    func run(from version: Int) throws(StoreError) {
        guard version < Schema.version else { return }
        try connection.transaction("migrate") { () throws(StoreError) in
            for step in Schema.steps[version...] { try connection.execute(step, "migrate") }
            try connection.execute(
                "PRAGMA application_id = \(Schema.applicationID); "
                    + "PRAGMA user_version = \(Schema.version)", "migrate")
        }
    }
}
