/// Orders that an executor has not answered yet, by their serials.
struct AwaitedOrders {
    enum What: Equatable {
        case start
        case times
        case freezing(Bool)
        case signal
        case kill

        /// Whether its answer is to come soon, whatever the command does.
        var isUrgent: Bool { self == .start || self == .times }
    }

    private var all: [UInt64: (what: What, command: UInt64)] = [:]
    /// How many of them are starts or times.
    private var urgentCount = 0

    /// Whether an answer is awaited that is to come soon, whatever the command does.
    var areUrgent: Bool { urgentCount > 0 }

    mutating func add(_ what: What, of command: UInt64, serial: UInt64) {
        all[serial] = (what, command)
        if what.isUrgent { urgentCount += 1 }
    }

    /// An order is answered.
    ///
    /// - Returns: which it was; `nil` where nobody waits for that.
    mutating func take(_ serial: UInt64) -> (what: What, command: UInt64)? {
        guard let order = all.removeValue(forKey: serial) else { return nil }
        if order.what.isUrgent { urgentCount -= 1 }
        return order
    }
}
