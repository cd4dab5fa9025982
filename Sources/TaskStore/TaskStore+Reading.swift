package import BudgetCore

extension TaskStore {
    /// Queued and started tasks in the order of their ids, with their attempts; what a restart begins with.
    package func live() throws(StoreError) -> [StoredTask] {
        try connection.exclusively { () throws(StoreError) in try queries.live() }
    }

    /// When a task of this owner and name last ended as `completed`; `nil` where none is known.
    ///
    /// Known as long as the longest interval lasts for which tasks of this name have waited or asked, and
    /// beyond that as long as the history goes back.
    package func lastSuccess(owner: OwnerID, name: String) throws(StoreError) -> WallTime? {
        try connection.exclusively { () throws(StoreError) in
            try queries.lastSuccess(owner: owner, name: name)
        }
    }

    /// The same for each of these tasks that has a minimum interval; where none is known it is left out.
    package func lastSuccesses(of tasks: [StoredTask]) throws(StoreError) -> [TaskID: WallTime] {
        try connection.exclusively { () throws(StoreError) in
            try queries.lastSuccesses(of: tasks)
        }
    }

    /// The groups that are paused, in the order of their names.
    package func pausedGroups() throws(StoreError) -> [String] {
        try connection.exclusively { () throws(StoreError) in try queries.pausedGroups() }
    }

    /// All applications, in the order of their owners and of their ids.
    package func applications() throws(StoreError) -> [StoredApplication] {
        try connection.exclusively { () throws(StoreError) in try queries.applications() }
    }

    /// Reads what is committed, for another thread.
    package func historyReader() throws(StoreError) -> HistoryReader {
        try HistoryReader(beside: self)
    }
}
