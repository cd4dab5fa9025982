package import BudgetCore

/// Instants of many things. The first of them is asked for in each turn, and looked for only where the one that was
/// the first is gone.
package struct Deadlines<Key: Hashable & Comparable> {
    private var instants: [Key: Instant] = [:]
    private var known: Instant?
    private var isKnown = true

    package init() {}

    var isEmpty: Bool { instants.isEmpty }

    package subscript(key: Key) -> Instant? {
        get { instants[key] }
        set {
            let old = instants.updateValue(newValue ?? .never, forKey: key)
            if newValue == nil { instants[key] = nil }
            if let old, old == known { isKnown = false }
            if isKnown, let newValue { known = min(known ?? newValue, newValue) }
        }
    }

    /// The first of them; `nil` where there is none.
    package var first: Instant? {
        mutating get {
            if !isKnown { (known, isKnown) = (instants.values.min(), true) }
            return known
        }
    }

    /// What is due by now, the first of it in front.
    package func due(at now: Instant) -> [Key] {
        guard !instants.isEmpty, !isKnown || known ?? .never <= now else { return [] }
        return instants.filter { $0.value <= now }
            .sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key)
    }
}
