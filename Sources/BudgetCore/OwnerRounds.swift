/// The order in which those who wait are served within one turn: one of each owner, then the next of
/// each, so that an owner with a thousand connections gets no more of a turn than one with a single one.
///
/// Owners come in the order in which they were first named, and each one's own in the order of coming.
package struct OwnerRounds<Element> {
    private var queues: [ArraySlice<Element>] = []
    private var indices: [OwnerID: Int] = [:]
    private var nextIndex = 0
    package private(set) var count = 0

    package init(_ elements: [Element], owner: (Element) -> OwnerID) {
        for element in elements { add(element, of: owner(element)) }
    }

    /// Takes the next one out.
    package mutating func next() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        while true {
            let index = nextIndex
            nextIndex = (nextIndex + 1) % queues.count
            if let element = queues[index].popFirst() { return element }
        }
    }

    private mutating func add(_ element: Element, of owner: OwnerID) {
        count += 1
        if let index = indices[owner] {
            queues[index].append(element)
        } else {
            indices[owner] = queues.count
            queues.append([element])
        }
    }
}
