internal import BudgetCore

/// Says which row and column hold a value that the store would not have written.
struct RowCheck {
    let path: String
    let subject: String

    func known<Value>(_ value: Value?, _ column: String) throws(StoreError) -> Value {
        if let value { return value }
        throw .damaged(
            "read", path, "the \(column) of \(subject) makes no sense; \(StoreError.remedy)")
    }

    func number<Value: FixedWidthInteger>(
        _ value: Int64?, _ column: String
    ) throws(StoreError) -> Value? {
        guard let value else { return nil }
        return try known(Value(exactly: value), column)
    }

    /// The groups of a submitter; `nil` where none are recorded.
    func groups(
        _ primary: Int64?, _ supplementary: String?
    ) throws(StoreError) -> SubmitterGroups? {
        guard let primary: UInt32 = try number(primary, "primary_gid") else { return nil }
        let numbers: [UInt32]? = supplementary.flatMap { JSONText.numbers($0) }
        return SubmitterGroups(
            primary: primary, supplementary: try known(numbers, "supplementary_gids"))
    }
}
