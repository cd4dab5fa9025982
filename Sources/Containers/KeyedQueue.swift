/// A queue whose entries can leave by their keys before their turn. Adding, taking and leaving take constant time on
/// average, however many wait.
package struct KeyedQueue<Key: Hashable, Element> {
    private struct Entry {
        let key: Key
        let element: Element
    }

    /// Those who left are gaps, which are never first nor last, until there are more of them than of entries.
    private var entries: [Entry?] = []
    /// Where the first one is.
    private var head = 0
    private var places: [Key: Int] = [:]

    /// Gaps that are not closed.
    private static var gapsKept: Int { 256 }

    package init() {}

    package var count: Int { places.count }

    package var isEmpty: Bool { places.isEmpty }

    /// The one that is taken next.
    package var first: Element? { head < entries.count ? entries[head]?.element : nil }

    /// The one that was added last.
    package var last: Element? { entries.last??.element }

    /// All of them in their order.
    package var all: some Sequence<Element> { entries[head...].lazy.compactMap { $0?.element } }

    package func contains(_ key: Key) -> Bool { places[key] != nil }

    /// Lets one more wait, whose key is in the queue once: it keeps its place where it waits already.
    package mutating func append(_ element: Element, as key: Key) {
        guard places[key] == nil else { return }
        places[key] = entries.count
        entries.append(Entry(key: key, element: element))
    }

    package mutating func popFirst() -> Element? {
        guard head < entries.count, let first = entries[head] else { return nil }
        return remove(first.key)
    }

    /// Takes out the one with a key, wherever it is.
    @discardableResult
    package mutating func remove(_ key: Key) -> Element? {
        guard let place = places.removeValue(forKey: key) else { return nil }
        let element = entries[place]?.element
        entries[place] = nil
        trim()
        return element
    }

    private mutating func trim() {
        guard !places.isEmpty else {
            entries.removeAll(keepingCapacity: entries.capacity <= Self.gapsKept)
            head = 0
            return
        }
        while entries[head] == nil { head += 1 }
        while entries[entries.count - 1] == nil { entries.removeLast() }
        if entries.count > Self.gapsKept + 2 * places.count { closeGaps() }
    }

    private mutating func closeGaps() {
        entries.removeAll { $0 == nil }
        head = 0
        for (place, entry) in entries.enumerated() {
            if let entry { places[entry.key] = place }
        }
    }
}
