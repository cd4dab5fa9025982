/// Those who wait to be served, one of each owner in turn as in `FairQueue`, and who can leave by their keys before
/// that. Adding, taking and leaving take constant time on average.
package struct KeyedFairQueue<Owner: Hashable, Key: Hashable, Element> {
    private var lines: [Owner: KeyedQueue<Key, Element>] = [:]
    /// The owners of those who wait, whose turn comes first in front.
    private var turns = KeyedQueue<Owner, Owner>()
    package private(set) var count = 0

    package init() {}

    /// Lets one more wait, behind its owner's others; who waits already keeps the place.
    package mutating func add(_ element: Element, as key: Key, of owner: Owner) {
        var line = lines.removeValue(forKey: owner) ?? KeyedQueue()
        let before = line.count
        line.append(element, as: key)
        count += line.count - before
        lines[owner] = line
        turns.append(owner, as: owner)
    }

    /// Takes out the one that is next.
    package mutating func next() -> Element? {
        guard let owner = turns.popFirst() else { return nil }
        var line = lines.removeValue(forKey: owner) ?? KeyedQueue()
        let element = line.popFirst()
        count -= 1
        if !line.isEmpty {
            lines[owner] = line
            turns.append(owner, as: owner)
        }
        return element
    }

    /// Takes out the one of an owner with a key; the others keep their turns.
    @discardableResult
    package mutating func remove(_ key: Key, of owner: Owner) -> Element? {
        guard var line = lines.removeValue(forKey: owner) else { return nil }
        let element = line.remove(key)
        if element != nil { count -= 1 }
        if line.isEmpty { turns.remove(owner) } else { lines[owner] = line }
        return element
    }
}
