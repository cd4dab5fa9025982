import BudgetCore

/// What a task says of itself; messages end at NUL.
enum Notices {
    static func run(_ bytes: [UInt8]) {
        var all = TaskNotice()
        for message in bytes.split(separator: 0, omittingEmptySubsequences: false) {
            let notice = TaskNotice(parsing: Array(message))
            precondition(notice.status?.utf8.count ?? 0 <= TaskNotice.statusBytesMax)
            precondition(notice.status?.contains("\n") != true)
            precondition(notice.atLeast ?? .zero >= .zero)
            all.add(notice)
            if let status = notice.status { precondition(all.status == status) }
            if let atLeast = notice.atLeast { precondition(all.atLeast ?? .zero >= atLeast) }
        }
    }
}
