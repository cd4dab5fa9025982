/// A value that others order, and what the disk may say of it: what was answered last, or what was ordered
/// since.
struct Claim<Value: Equatable>: CustomStringConvertible {
    private var answered: Value
    /// Orders that are not answered, the oldest first; without a number those that never are.
    private var open: [(number: UInt64?, value: Value)] = []
    /// What was refused, and may be on disk all the same.
    private var doubtful: [Value] = []

    init(_ value: Value) {
        answered = value
    }

    var description: String { "\(answered), open \(open), doubtful \(doubtful)" }

    /// What was ordered last.
    var latest: Value { open.last?.value ?? answered }

    func allows(_ value: Value) -> Bool {
        answered == value || open.contains { $0.value == value } || doubtful.contains(value)
    }

    /// - Parameter number: of the call; `nil` where nobody is told that the disk has it.
    mutating func ordered(_ value: Value, number: UInt64? = nil) {
        open.append((number, value))
    }

    /// - Parameters:
    ///   - isTaken: whether the disk has it.
    ///   - mayBeTaken: whether the disk may have what it refused.
    mutating func answered(_ number: UInt64, isTaken: Bool, mayBeTaken: Bool) {
        guard let index = open.firstIndex(where: { $0.number == number }) else { return }
        if isTaken {
            answered = open[index].value
            open.removeSubrange(...index)
            doubtful = []
        } else {
            let order = open.remove(at: index)
            if mayBeTaken { doubtful.append(order.value) }
        }
    }

    /// Nothing else is possible any more: the disk says so, or an answer does.
    mutating func settle(_ value: Value) {
        self = Claim(value)
    }
}
