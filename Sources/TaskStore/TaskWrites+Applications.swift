internal import BudgetCore

extension TaskWrites {
    /// Puts an application in the place of what was known of it.
    func save(_ application: StoredApplication) throws(StoreError) {
        let statement = try connection.statement(SQL.saveApplication, "save an application")
        var row = ApplicationRow(application)
        var binder = ColumnBinder(statement: statement)
        try row.visit(&binder)
        try statement.run()
    }

    /// Removes an application; one that is not there stays away.
    func forget(_ id: String, of owner: OwnerID) throws(StoreError) {
        let statement = try connection.statement(SQL.forgetApplication, "forget an application")
        try statement.bind(Int64(owner.rawValue))
        try statement.bind(id)
        try statement.run()
    }
}
