extension TaskQueries {
    /// All applications, in the order of their owners and of their ids.
    func applications() throws(StoreError) -> [StoredApplication] {
        let statement = try connection.statement(Self.allApplications, "read")
        defer { statement.reset() }
        var applications: [StoredApplication] = []
        while try statement.step() {
            var reader = ColumnReader(statement: statement, path: connection.path)
            var row = ApplicationRow()
            try row.visit(&reader)
            applications.append(try row.application(connection.path))
        }
        return applications
    }

    /// The primary key has them in this order.
    static let allApplications =
        "SELECT \(ColumnNames.ofApplication.joined(separator: ", ")) FROM applications "
        + "ORDER BY owner, id"
}
