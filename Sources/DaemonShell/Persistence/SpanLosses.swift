package import BudgetCore

/// Gathers how many spans of applications were dropped on their way to the disk, so that those of a second are told
/// together, once for each account.
package struct SpanLosses {
    private var counts: [OwnerID: Int] = [:]
    /// When the second is over that the first of them began.
    package private(set) var nextReport: Instant?

    package init() {}

    /// Takes what was dropped just now.
    package mutating func add(_ dropped: [OwnerID: Int], at now: Instant) {
        guard !dropped.isEmpty else { return }
        counts.merge(dropped, uniquingKeysWith: +)
        nextReport = nextReport ?? now + .seconds(1)
    }

    /// What is to be told, in the order of the accounts; then that is done.
    package mutating func takeReport() -> [(account: OwnerID, count: Int)] {
        defer { self = SpanLosses() }
        return counts.sorted { $0.key < $1.key }.map { (account: $0.key, count: $0.value) }
    }
}
