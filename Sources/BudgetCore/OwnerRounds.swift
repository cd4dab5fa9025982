/// Those who wait to be served: one of each owner in turn, so that an owner with a thousand who wait
/// gets no more of the time than one with a single one.
///
/// Each owner's own are served in the order of their coming. Adding and taking take constant time.
package struct OwnerRounds<Element> {
    /// Owners with somebody who waits, whose turn comes first in front.
    private var turns: ArraySlice<OwnerID> = []
    private var queues: [OwnerID: ArraySlice<Element>] = [:]
    package private(set) var count = 0

    package init() {}

    /// Lets one more wait, behind its owner's others.
    package mutating func add(_ element: Element, of owner: OwnerID) {
        count += 1
        if queues[owner]?.append(element) == nil {
            queues[owner] = [element]
            turns.append(owner)
        }
    }

    /// Takes out those of an owner who wait no longer; looks at all of that owner's.
    package mutating func removeAll(of owner: OwnerID, where isGone: (Element) -> Bool) {
        guard let queue = queues[owner] else { return }
        let left = queue.filter { !isGone($0) }
        count -= queue.count - left.count
        queues[owner] = left.isEmpty ? nil : left[...]
        if left.isEmpty { turns.removeAll { $0 == owner } }
    }

    /// Takes out the one that is next.
    package mutating func next() -> Element? {
        guard let owner = turns.popFirst(), let element = queues[owner]?.popFirst() else {
            return nil
        }
        count -= 1
        if queues[owner]?.isEmpty == true {
            queues[owner] = nil
        } else {
            turns.append(owner)
        }
        return element
    }
}
