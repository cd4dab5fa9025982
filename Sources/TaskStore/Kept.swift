internal import BudgetCore

/// What is kept of an owner's past, counts as theirs, and goes where it is too much.
enum Kept {
    case task(KeptRow)
    case success(KeptSuccess)

    var owner: OwnerID {
        switch self {
        case .task(let row): row.owner
        case .success(let success): success.owner
        }
    }

    /// What it takes on the disk, about.
    var bytes: Int {
        switch self {
        case .task(let row): row.bytes
        case .success(let success): success.bytes
        }
    }

    /// The ended task that it is.
    var task: TaskID? {
        if case .task(let row) = self { TaskID(rawValue: UInt64(clamping: row.id)) } else { nil }
    }

    /// Ended tasks that it is.
    var taskCount: Int {
        if case .task = self { 1 } else { 0 }
    }
}

/// An ended task, and what it takes on the disk.
struct KeptRow {
    let id: Int64
    let owner: OwnerID
    let bytes: Int

    /// From the columns of `SQL.keptRow`, which come first.
    init(_ statement: Statement) {
        id = statement.integer(0) ?? 0
        owner = OwnerID(rawValue: UInt32(clamping: statement.integer(1) ?? 0))
        bytes = Int(clamping: statement.integer(2) ?? 0)
    }

    /// The only one that a statement answers with, where it does; the statement is run to its end.
    static func only(of statement: Statement) throws(StoreError) -> KeptRow? {
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let row = KeptRow(statement)
        while try statement.step() {}
        return row
    }
}

/// The last success of an owner's tasks of a name, whose time is kept for a minimum interval.
package struct KeptSuccess: Comparable {
    let owner: OwnerID
    let name: String

    /// What it takes without its name, which is in the table and in two indexes.
    private static let rowBytes = 96

    var bytes: Int { KeptSuccess.rowBytes + 3 * name.utf8.count }

    init(owner: OwnerID, name: String) {
        self.owner = owner
        self.name = name
    }

    /// From the owner and the name, which come first.
    init(_ statement: Statement) {
        owner = OwnerID(rawValue: UInt32(clamping: statement.integer(0) ?? 0))
        name = statement.text(1) ?? ""
    }

    /// The order of the table, which compares the bytes of names.
    package static func < (success: KeptSuccess, other: KeptSuccess) -> Bool {
        success.owner != other.owner
            ? success.owner < other.owner
            : success.name.utf8.lexicographicallyPrecedes(other.name.utf8)
    }

    package static func == (success: KeptSuccess, other: KeptSuccess) -> Bool {
        success.owner == other.owner && success.name.utf8.elementsEqual(other.name.utf8)
    }
}
