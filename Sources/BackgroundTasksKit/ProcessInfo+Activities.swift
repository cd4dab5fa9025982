public import Foundation

extension ProcessInfo {
    /// What an activity is about; nobody looks at it.
    public struct ActivityOptions: OptionSet, Sendable {
        /// Its bits.
        public let rawValue: UInt64

        /// Makes options of bits.
        public init(rawValue: UInt64) { self.rawValue = rawValue }

        /// The screen stays on.
        public static let idleDisplaySleepDisabled = ActivityOptions(rawValue: 1 << 40)
        /// The machine does not fall asleep.
        public static let idleSystemSleepDisabled = ActivityOptions(rawValue: 1 << 20)
        /// The program is not killed.
        public static let suddenTerminationDisabled = ActivityOptions(rawValue: 1 << 14)
        /// The program is not ended.
        public static let automaticTerminationDisabled = ActivityOptions(rawValue: 1 << 15)
        /// The user has begun it, and the machine may fall asleep.
        public static let userInitiatedAllowingIdleSystemSleep = ActivityOptions(
            rawValue: 0xEF_FFFF)
        /// The user has begun it.
        public static let userInitiated = ActivityOptions(rawValue: 0xFF_FFFF)
        /// Nobody waits for it.
        public static let background = ActivityOptions(rawValue: 0xFF)
        /// It must not be late.
        public static let latencyCritical = ActivityOptions(rawValue: 0xFF_0000_0000)
    }

    /// Has a block run on another queue while time is held for it; when that is nearly over, or if there is none, the
    /// block is called with `true`, beside the first call where that still runs.
    public func performExpiringActivity(
        withReason reason: String, using block: @escaping @Sendable (Bool) -> Void
    ) {
        let queue = DispatchQueue.global()
        let id = try? HeldTasks.shared.begin(reason, on: queue) { block(true) }
        queue.async {
            block(id == nil)
            if let id { HeldTasks.shared.end(id) }
        }
    }

    /// Holds time until ``endActivity(_:)``.
    public func beginActivity(
        options: ActivityOptions = [], reason: String
    ) -> any NSObjectProtocol {
        Activity(try? HeldTasks.shared.begin(reason, on: .global(), expirationHandler: nil))
    }

    /// Gives back what ``beginActivity(options:reason:)`` has held.
    public func endActivity(_ activity: any NSObjectProtocol) {
        if let id = (activity as? Activity)?.id { HeldTasks.shared.end(id) }
    }

    /// Holds time while a block runs.
    public func performActivity(
        options: ActivityOptions = [], reason: String, using block: () -> Void
    ) {
        let activity = beginActivity(options: options, reason: reason)
        block()
        endActivity(activity)
    }
}

/// What an activity is ended by.
private final class Activity: NSObject, Sendable {
    let id: Int?

    init(_ id: Int?) { self.id = id }
}
