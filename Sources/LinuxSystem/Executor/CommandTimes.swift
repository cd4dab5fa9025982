/// When the handler and the limit of a command are due, and what the caller wants kept with it.
package struct CommandTimes: Equatable, Sendable {
    /// Nanoseconds on CLOCK_MONOTONIC; 0: never.
    package var handlerAt: UInt64
    /// The same; not before the handler.
    package var limitAt: UInt64
    /// Eight words of the caller's.
    package var notes: [UInt64]

    package init(handlerAt: UInt64, limitAt: UInt64, notes: [UInt64]) {
        self.handlerAt = handlerAt
        self.limitAt = limitAt
        self.notes = notes
    }
}

/// What the executor was told last of the times of a command, and how often its handler has fired as far as is known.
package struct MirroredTimes {
    /// Something that is due at once.
    private static let past: UInt64 = 1

    /// What the executor is to be told.
    package struct Order: Equatable {
        package var times: CommandTimes
        /// How often the handler has fired, as far as is known.
        package let fired: UInt32
        /// Whether a handler that has fired before is to fire again.
        package let isAgain: Bool

        package init(times: CommandTimes, fired: UInt32, isAgain: Bool) {
            self.times = times
            self.fired = fired
            self.isAgain = isAgain
        }
    }

    private var wanted: CommandTimes
    /// `nil`: it has to be told again.
    private var told: CommandTimes?
    private var fired: UInt32
    /// The handler is to fire now, and has not.
    private var isWarning = false
    /// The order that is not answered.
    private var awaited: UInt64?

    /// - Parameter fired: how often the handler has fired.
    package init(told times: CommandTimes, fired: UInt32 = 0) {
        wanted = times
        told = times
        self.fired = fired
    }

    /// Whether the executor goes by what is wanted.
    package var areInForce: Bool { awaited == nil && told == aim }

    /// When the limit is due, whether the executor knows that already or not; 0: never.
    var limitAt: UInt64 { wanted.limitAt }

    private var aim: CommandTimes {
        guard isWarning else { return wanted }
        var aim = wanted
        aim.handlerAt = Self.past
        return aim
    }

    package mutating func want(_ times: CommandTimes) { wanted = times }

    /// The handler is to fire now.
    package mutating func warn() { isWarning = true }

    /// - Returns: what is to be sent with this serial; `nil` where nothing is.
    package mutating func nextOrder(serial: UInt64) -> Order? {
        let aim = aim
        guard told != aim else { return nil }
        told = aim
        awaited = serial
        return Order(times: aim, fired: fired, isAgain: fired > 0 && aim.handlerAt != 0)
    }

    /// - Returns: whether it is the answer to the newest order.
    package mutating func answered(_ serial: UInt64, isTaken: Bool) -> Bool {
        guard serial == awaited else { return false }
        awaited = nil
        if !isTaken { told = nil }
        return true
    }

    /// The executor has fired the handler so often.
    ///
    /// - Returns: whether that is news.
    package mutating func handlerFired(_ count: UInt32) -> Bool {
        guard count > fired else { return false }
        fired = count
        isWarning = false
        // It has set the time of the handler to never by itself.
        if told != nil { told?.handlerAt = 0 }
        return true
    }

    /// The connection is another one: nobody knows what has come.
    mutating func tellAgain() {
        told = nil
        awaited = nil
    }
}
