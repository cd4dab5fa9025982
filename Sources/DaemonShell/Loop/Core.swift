package import BudgetCore
internal import LinuxSystem
package import TaskStore

/// The core as the daemon's parts see it: what it knows, the turn's one instant, and its orders.
///
/// A turn begins with a look at the clock, after what came has been read, so that nothing is early. All that happens
/// in it happens at that instant. It ends when what the core ordered has been done.
package final class Core {
    /// What a turn calls on, once the parts are there.
    package struct Hooks {
        /// Does what the core has ordered.
        var perform: (Action) -> Void
        /// Finishes what the instant has left: starts, writes, answers.
        var finish: () -> Void
        /// Has the loop come back when something is due; after the last `finish` of a turn.
        var arrange: () -> Void
        /// Has the loop come back at once, after others have had their turn.
        var continueLater: () -> Void

        package init(
            perform: @escaping (Action) -> Void, finish: @escaping () -> Void,
            arrange: @escaping () -> Void, continueLater: @escaping () -> Void
        ) {
            self.perform = perform
            self.finish = finish
            self.arrange = arrange
            self.continueLater = continueLater
        }
    }

    /// The clocks that a turn goes by.
    package struct Clocks {
        /// Nanoseconds of CLOCK_MONOTONIC, and how far CLOCK_BOOTTIME is ahead of it.
        let read: () -> (now: Int64, slept: Int64)
        let timeOfDay: () -> WallTime

        package init(
            read: @escaping () -> (now: Int64, slept: Int64), timeOfDay: @escaping () -> WallTime
        ) {
            self.read = read
            self.timeOfDay = timeOfDay
        }

        static func machine() -> Clocks {
            var clock = SleepClock()
            return Clocks(read: { clock.read() }, timeOfDay: WallClock.now)
        }
    }

    /// What the core knows. Changed by `update` alone.
    package private(set) var registry: BackgroundTaskRegistry
    /// The instant of the turn, or of the last one.
    package private(set) var now = Instant(nanoseconds: .min)
    private var actions: [Action] = []
    private let time: Clocks
    private var hooks: Hooks?
    private var isInTurn = false
    /// Whether nothing has come since what this instant has left was done.
    private var isFinished = true
    private var isContinuing = false

    /// - Parameter time: other clocks than the machine's, for tests.
    package init(_ registry: consuming BackgroundTaskRegistry, _ time: Clocks = .machine()) {
        self.registry = registry
        self.time = time
        advance()
    }

    package func connect(_ hooks: Hooks) { self.hooks = hooks }

    // MARK: - The turn

    /// Takes something that came as a turn of its own, or as a part of the turn that it came up in.
    package func turn(_ body: () throws -> Void) rethrows {
        guard !isInTurn else { return try body() }
        isInTurn = true
        defer {
            if !isFinished { finish() }
            hooks?.arrange()
            isInTurn = false
        }
        advance()
        try body()
    }

    /// The clock as it is now: later than `now` by as long as the turn has taken.
    var present: Instant { Instant(nanoseconds: time.read().now) }

    /// Begins the next instant within a turn that takes several batches one after the other.
    package func advance() {
        let (nanoseconds, slept) = time.read()
        let next = Instant(nanoseconds: nanoseconds)
        if next < now {
            fault("the clock fell", state: "by \(now.nanoseconds - nanoseconds) ns")
        }
        now = max(now, next)
        registry.asleep = .nanoseconds(slept)
        isFinished = false
    }

    /// Ends an instant within a turn: what it has left is done.
    func finish() {
        hooks?.finish()
        isFinished = true
    }

    /// Asks for another turn, where this one had no room for everything.
    package func continueLater() {
        guard !isContinuing else { return }
        isContinuing = true
        hooks?.continueLater()
    }

    /// The turn that was asked for has come.
    package func continued() { isContinuing = false }

    // MARK: - The core

    /// Tells the core what happened, or asks it something; what it orders is performed later.
    package func update<Result, Failure: Error>(
        _ body: (inout BackgroundTaskRegistry, Instant, inout [Action]) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(&registry, now, &actions)
    }

    /// Whether orders are to be performed still.
    package var hasOrders: Bool { !actions.isEmpty }

    /// Has told what must never happen outside of the core.
    func fault(_ event: String, state: String) {
        actions.append(.fault(Fault(event, state: state)))
    }

    /// Puts orders behind those that the core has given.
    package func order(_ more: [Action]) { actions += more }

    /// Performs the core's orders, those that come up meanwhile included.
    package func perform() {
        guard let hooks else { return }
        // Most often it is one, or none.
        while actions.count == 1, let action = actions.popLast() { hooks.perform(action) }
        guard !actions.isEmpty else { return }
        var index = 0
        while index < actions.count {
            let action = actions[index]
            index += 1
            hooks.perform(action)
        }
        if actions.count < 1024 { actions.clear() } else { actions.removeAll() }
    }

    /// The clocks of the turn, for what is told in the time of day: what it was at the turn's instant.
    package var clocks: ClockPair {
        let sinceThen = max(present - now, .zero)
        return ClockPair(
            instant: now, boot: registry.boot(at: now),
            time: time.timeOfDay().earlier(by: sinceThen))
    }
}

extension Instant {
    /// The clock now, where it is asked how long something takes. What happens, happens at `Core.now`.
    package static func measured() -> Instant { Instant(nanoseconds: MonotonicClock.now()) }
}
