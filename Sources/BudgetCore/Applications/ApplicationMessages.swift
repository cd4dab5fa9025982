/// The messages that an application that runs has to do with.
package struct ApplicationMessages: Sendable {
    /// A message, and what it is delivered by.
    struct Pending: Sendable {
        let message: PushMessage
        let callbacks: [Callback]
    }

    /// A message for which it owes an answer, and when that is due.
    package struct Delivery: Sendable {
        package let id: UInt64
        package let until: Instant
    }

    /// To be delivered when it is awake.
    private var pending: [Pending] = []
    /// Those that it owes an answer for, in order.
    private(set) var deliveries: [Delivery] = []
    /// Payloads of alerts that it was told of in front, the newest last.
    private var presented: [String?] = []

    private static let pendingMax = 16
    private static let presentedMax = 16

    // MARK: Until it is awake

    var pendingCount: Int { pending.count }
    var hasPending: Bool { !pending.isEmpty }

    /// - Returns: whether there was room for one more.
    mutating func add(_ message: PushMessage, _ callbacks: [Callback]) -> Bool {
        guard pending.count < ApplicationMessages.pendingMax else { return false }
        pending.append(Pending(message: message, callbacks: callbacks))
        return true
    }

    mutating func takePending() -> [Pending] { exchange(&pending, with: []) }

    // MARK: Until it says that it has finished

    var nextDue: Instant { deliveries.map(\.until).min() ?? .never }

    var isOwing: Bool { !deliveries.isEmpty }

    func owes(_ id: UInt64) -> Bool { deliveries.contains { $0.id == id } }

    func isOverdue(at now: Instant) -> Bool { deliveries.contains { $0.until <= now } }

    mutating func owe(_ id: UInt64, until: Instant) {
        deliveries.append(Delivery(id: id, until: until))
    }

    mutating func finish(_ id: UInt64) { deliveries.removeAll { $0.id == id } }

    mutating func forgetOverdue(at now: Instant) { deliveries.removeAll { $0.until <= now } }

    /// In front nothing is owed.
    mutating func forgetDeliveries() { deliveries = [] }

    // MARK: Alerts in front

    func wasPresented(_ payload: String?) -> Bool { presented.contains(payload) }

    mutating func present(_ payload: String?) {
        if presented.count == ApplicationMessages.presentedMax { presented.removeFirst() }
        presented.append(payload)
    }

    /// An alert that was presented is tapped once.
    mutating func tap(_ payload: String?) {
        if let index = presented.firstIndex(of: payload) { presented.remove(at: index) }
    }

    mutating func forgetPresented() { presented = [] }
}
