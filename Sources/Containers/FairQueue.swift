/// Those who wait to be served: one of each owner in turn, so that an owner with a thousand who wait
/// gets no more of the time than one with a single one.
///
/// Each owner's own are served in the order of their coming. Adding and taking take constant time. Inlinable,
/// since the daemon's loop adds and takes a client for each call.
@usableFromInline
package struct FairQueue<Owner: Hashable, Element> {
    /// Those of one owner; kept while they are none, for the next.
    @usableFromInline
    struct Line {
        @usableFromInline
        let owner: Owner
        @usableFromInline
        var waiting = Deque<Element>()

        @inlinable
        init(owner: Owner) {
            self.owner = owner
        }
    }

    @usableFromInline
    var lines: [Line] = []
    @usableFromInline
    var places: [Owner: Int] = [:]
    /// The places of lines with somebody who waits, whose turn comes first in front.
    @usableFromInline
    var turns = Deque<Int>()
    /// The place that was looked for last: most often it is the next one too.
    @usableFromInline
    var placeLast = 0
    @usableFromInline
    package var count = 0

    /// Lines that are kept while nobody waits.
    @usableFromInline
    static var linesKept: Int { 64 }

    @inlinable
    package init() {}

    /// Lets one more wait, behind its owner's others.
    @inlinable
    package mutating func add(_ element: Element, of owner: Owner) {
        let place = place(of: owner)
        lines[place].waiting.append(element)
        if lines[place].waiting.count == 1 { turns.append(place) }
        count += 1
    }

    /// Takes out the one that is next.
    @inlinable
    package mutating func next() -> Element? {
        guard let place = turns.first, let element = lines[place].waiting.popFirst() else {
            return nil
        }
        count -= 1
        if lines[place].waiting.count > 0 {
            // The only one stays the next.
            guard turns.count > 1 else { return element }
            _ = turns.popFirst()
            turns.append(place)
            return element
        }
        _ = turns.popFirst()
        if count == 0, lines.count > Self.linesKept {
            (lines, places, placeLast) = ([], [:], 0)
        }
        return element
    }

    /// Takes out the one that is next and whose owner is not held back; looks at each owner once.
    @inlinable
    package mutating func next(unless isHeldBack: (Owner) -> Bool) -> Element? {
        for _ in 0..<turns.count {
            guard let place = turns.first else { return nil }
            guard isHeldBack(lines[place].owner) else { return next() }
            _ = turns.popFirst()
            turns.append(place)
        }
        return nil
    }

    @inlinable
    mutating func place(of owner: Owner) -> Int {
        if placeLast < lines.count, lines[placeLast].owner == owner { return placeLast }
        if let place = places[owner] {
            placeLast = place
        } else {
            placeLast = lines.count
            places[owner] = placeLast
            lines.append(Line(owner: owner))
        }
        return placeLast
    }
}
