import BudgetCore
import TaskStore

/// Remembers over all daemons of a history what was answered about applications, and what the disk was given
/// of them, and says what contradicts it.
///
/// What was answered is on disk, and is found again. An application that ran when its daemon was stopped was
/// interrupted, where the disk knew that it ran. Nothing stays frozen of which the disk does not know.
struct ApplicationLedger {
    /// What somebody ordered.
    enum Order: Equatable {
        case register(Registration)
        case badge(Int)
        case forget
        case adopt([AdoptedUnit])
        /// Something that no disk has to know.
        case other
    }

    private struct Fact: CustomStringConvertible {
        /// `nil`: it is not known.
        var registration = Claim<Registration?>(nil)
        var badge = Claim(0)
        var state = ApplicationState.notRunning
        var isTerminateAsked = false
        /// It was running when its daemon was stopped, and nobody was told of its end.
        var wasCutOff = false
        /// How its main process ended, of which the end is not told yet.
        var exit: ProcessExit?
        /// How it ended last.
        var end: End?

        var description: String {
            "registered \(registration), badge \(badge), \(state), "
                + "terminate asked \(isTerminateAsked), cut off \(wasCutOff), "
                + "exit \(exit as Any), end \(end as Any)"
        }
    }

    private struct End: Equatable {
        let reason: TerminationReason
        let exit: ProcessExit?
    }

    /// What the disk has taken.
    private(set) var disk: [ApplicationKey: StoredApplication] = [:]
    /// What it is being given.
    private var inHand: [StoreChange] = []
    /// What it has refused since it last took something, and may have all the same.
    private var doubtful: [[StoreChange]] = []
    /// Whether it has refused something, or has not answered: an end is told then though it does not have it.
    private var isAtFault = false
    private var facts: [ApplicationKey: Fact] = [:]
    private var orders: [UInt64: (key: ApplicationKey, order: Order)] = [:]

    // MARK: - Orders

    /// An order was taken, and will be answered.
    mutating func ordered(_ key: ApplicationKey, _ number: UInt64, _ order: Order) {
        var fact = facts[key] ?? Fact()
        switch order {
        case .register(let registration):
            fact.registration.ordered(registration, number: number)
        case .badge(let badge): fact.badge.ordered(badge, number: number)
        case .forget:
            fact.registration.ordered(nil, number: number)
            fact.badge.ordered(0, number: number)
        case .adopt:
            let registration = fact.registration.latest ?? Registration()
            fact.registration.ordered(registration, number: number)
        case .other: break
        }
        facts[key] = fact
        orders[number] = (key, order)
    }

    /// A message has set the badge, of which nobody is told when the disk has it.
    mutating func pushed(_ key: ApplicationKey, _ badge: Int) {
        facts[key]?.badge.ordered(badge)
    }

    /// It was answered at once that the badge is so.
    mutating func isSo(_ key: ApplicationKey, _ badge: Int) throws {
        guard disk[key]?.badge == badge else {
            throw Violation("the badge of \(key) is said to be \(badge): \(words(key))")
        }
        facts[key]?.badge.settle(badge)
    }

    mutating func terminateAsked(_ key: ApplicationKey) {
        facts[key]?.isTerminateAsked = true
    }

    mutating func answered(
        _ key: ApplicationKey, _ number: UInt64, _ refusal: Refusal?, mayBeTaken: Bool
    ) throws {
        guard let (asked, order) = orders.removeValue(forKey: number), asked == key else {
            throw Violation("call \(number) about \(key) is answered, and nobody waits for it")
        }
        let isTaken = refusal == nil
        switch order {
        case .register:
            facts[key]?.registration.answered(number, isTaken: isTaken, mayBeTaken: mayBeTaken)
        case .badge:
            facts[key]?.badge.answered(number, isTaken: isTaken, mayBeTaken: mayBeTaken)
        case .forget:
            facts[key]?.registration.answered(number, isTaken: isTaken, mayBeTaken: mayBeTaken)
            facts[key]?.badge.answered(number, isTaken: isTaken, mayBeTaken: mayBeTaken)
            if isTaken { facts[key]?.end = nil }
        case .adopt(let units):
            // One that was given up again is known all the same, where the disk took it.
            facts[key]?.registration.answered(number, isTaken: isTaken, mayBeTaken: true)
            guard !isTaken || knows(key, units) else {
                throw Violation("\(key) is adopted, and not on disk: \(words(key))")
            }
        case .other: return
        }
        guard isTaken else { return }
        try checkPromises(key, disk[key], "answered")
    }

    /// Of those that the daemon does not know any more nothing is kept: the disk never had them.
    mutating func forgetEnds(except isKnown: (ApplicationKey) -> Bool) {
        for key in facts.keys where !isKnown(key) { facts[key]?.end = nil }
    }

    // MARK: - What they do

    /// Observers are told of a state.
    mutating func told(_ key: ApplicationKey, _ event: ApplicationEvent) throws {
        guard let fact = facts[key], fact.state == event.previous else {
            throw Violation("\(key) is told \(event): \(words(key))")
        }
        facts[key]?.state = event.state
    }

    mutating func exited(_ key: ApplicationKey, _ exit: ProcessExit) {
        facts[key]?.exit = exit
    }

    /// It is told that nothing of it runs any more.
    mutating func ended(
        _ key: ApplicationKey, _ reason: TerminationReason, isDraining: Bool
    ) throws {
        guard let fact = facts[key] else { throw Violation("\(key), which nobody knows, ended") }
        var isCrash = false
        if case .signal = fact.exit { isCrash = true }
        let isRight =
            switch reason {
            case .exited: !isCrash
            case .crashed: isCrash
            case .terminated: fact.isTerminateAsked
            case .interrupted: isDraining || fact.wasCutOff
            default: true
            }
        guard isRight, !fact.wasCutOff || reason == .interrupted else {
            throw Violation("\(key) is told to have ended as \(reason): \(words(key))")
        }
        let end = End(reason: reason, exit: fact.exit)
        let stored = disk[key]?.lastTermination.map { End(reason: $0.reason, exit: $0.exit) }
        guard isAtFault || fact.wasCutOff || stored == end else {
            throw Violation("the end of \(key) is told before the disk has it: \(words(key))")
        }
        facts[key]?.end = end
        facts[key]?.exit = nil
        facts[key]?.wasCutOff = false
        facts[key]?.isTerminateAsked = false
    }

    /// Whether the disk knows that it runs in these units.
    func knows(_ key: ApplicationKey, _ units: [AdoptedUnit]) -> Bool {
        disk[key]?.isRunning == true && disk[key]?.units == units
    }

    // MARK: - The disk

    /// The disk is given changes.
    mutating func given(_ changes: [StoreChange]) {
        inHand = changes
    }

    /// It has taken what it was given.
    mutating func taken() {
        disk = ApplicationLedger.applying(inHand, to: disk)
        (inHand, doubtful) = ([], [])
    }

    mutating func refused(mayBeTaken: Bool) {
        isAtFault = true
        if mayBeTaken { doubtful.append(inHand) }
        inHand = []
    }

    /// It does not answer: ends are told before it has them.
    mutating func silent() { isAtFault = true }

    /// The daemon has found it well again.
    mutating func healed() { isAtFault = false }

    private static func applying(
        _ changes: [StoreChange], to disk: [ApplicationKey: StoredApplication]
    ) -> [ApplicationKey: StoredApplication] {
        var disk = disk
        for change in changes {
            switch change {
            case .applicationSaved(let stored): disk[stored.key] = stored
            case .applicationForgotten(let owner, let id):
                disk[ApplicationKey(owner: owner, id: id)] = nil
            default: break
            }
        }
        return disk
    }

    /// Compares what a daemon has found with what is known.
    mutating func found(_ found: [StoredApplication], frozen: Set<AdoptedUnit>) throws {
        guard zip(found, found.dropFirst()).allSatisfy({ $0.key < $1.key }) else {
            throw Violation("the store answers \(found)")
        }
        let possible = ([inHand] + doubtful).map { ApplicationLedger.applying($0, to: disk) }
        let now = Dictionary(uniqueKeysWithValues: found.map { ($0.key, $0) })
        guard now == disk || possible.contains(now) else {
            throw Violation("the disk was given \(disk), and has \(now)")
        }
        let units = Set(found.flatMap(\.units))
        guard frozen.isSubset(of: units) else {
            throw Violation("\(frozen.subtracting(units)) stay frozen")
        }
        for key in Set(facts.keys).union(now.keys).sorted() { try self.found(key, now[key]) }
        disk = now
        (inHand, doubtful, orders) = ([], [], [:])
        isAtFault = false
    }

    private mutating func found(_ key: ApplicationKey, _ stored: StoredApplication?) throws {
        guard facts[key] != nil else { throw Violation("\(key) was never known, and is there") }
        try checkPromises(key, stored, "found")
        facts[key]?.registration.settle(stored?.registration)
        facts[key]?.badge.settle(stored?.badge ?? 0)
        facts[key]?.state = .notRunning
        facts[key]?.isTerminateAsked = false
        facts[key]?.wasCutOff = stored?.isRunning == true
        facts[key]?.exit = nil
        facts[key]?.end = stored?.lastTermination.map { End(reason: $0.reason, exit: $0.exit) }
    }

    /// Whether what was answered is true.
    private func checkPromises(
        _ key: ApplicationKey, _ stored: StoredApplication?, _ occasion: String
    ) throws {
        guard let fact = facts[key], fact.registration.allows(stored?.registration),
            stored.map({ fact.badge.allows($0.badge) }) ?? true
        else { throw Violation("\(occasion) as \(stored as Any): \(words(key))") }
    }

    // MARK: - At rest

    /// What must be so when the disk works and has all that it was given.
    ///
    /// - Parameters:
    ///   - running: what is there of programs, with the units of those that were adopted.
    ///   - left: units that could not be thawed, of those that are let go.
    func settled(
        running: [ApplicationKey: [AdoptedUnit]], left: [ApplicationKey: [AdoptedUnit]]
    ) throws {
        if let (number, (key, order)) = orders.first(where: { $0.value.order != .other }) {
            throw Violation("call \(number) about \(key) is not answered: \(order)")
        }
        for (key, fact) in facts {
            let stored = disk[key]
            let adopted = running[key].flatMap { $0.isEmpty ? nil : $0 }
            guard stored?.isRunning ?? false == (running[key] != nil),
                stored?.units ?? [] == adopted ?? left[key] ?? []
            else { throw Violation("\(running[key] as Any) of \(key) runs: \(words(key))") }
            guard let stored else { continue }
            let end = stored.lastTermination.map { End(reason: $0.reason, exit: $0.exit) }
            guard end == fact.end, !fact.wasCutOff else {
                throw Violation("the end of \(key) was not recorded: \(words(key))")
            }
            try checkPromises(key, stored, "at rest")
        }
    }

    private func words(_ key: ApplicationKey) -> String {
        "fact \(facts[key] as Any), disk \(disk[key] as Any)"
    }
}
