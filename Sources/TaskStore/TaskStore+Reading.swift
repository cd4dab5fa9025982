package import BudgetCore

extension TaskStore {
    /// Queued and started tasks in the order of their ids; what a restart begins with.
    package func live() throws(StoreError) -> [StoredTask] {
        try connection.exclusively { () throws(StoreError) in try queries.live() }
    }

    /// When a task of this owner and name last ended as `completed`; `nil` where none is known.
    ///
    /// Known as long as an interval that tasks of this name have asked for lasts, and beyond that as long
    /// as the history goes back.
    package func lastSuccess(owner: OwnerID, name: String) throws(StoreError) -> StoredSuccess? {
        try connection.exclusively { () throws(StoreError) in
            try queries.lastSuccess(owner: owner, name: name)
        }
    }

    /// The last successes from which a minimum interval may still run, by owner and name.
    package func lastSuccesses() throws(StoreError) -> [StoredSuccess] {
        try connection.exclusively { () throws(StoreError) in try queries.lastSuccesses() }
    }

    /// Reads what is committed, for another thread.
    package func historyReader() throws(StoreError) -> HistoryReader {
        try HistoryReader(beside: self)
    }
}
