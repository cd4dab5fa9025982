/// Keys by how much each of them has. Who has most is known at once; a change costs the logarithm of how many keys
/// there are.
///
/// A binary heap, and where each key is in it. Of keys that have the same the highest comes first.
package struct Ranking<Key: Hashable & Comparable> {
    package struct Entry {
        package let key: Key
        package fileprivate(set) var value: Int

        fileprivate static func < (entry: Entry, other: Entry) -> Bool {
            entry.value != other.value ? entry.value < other.value : entry.key < other.key
        }
    }

    /// None has less than those below it.
    private var entries: [Entry] = []
    private var places: [Key: Int] = [:]

    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    /// Who has most.
    package var first: Entry? { entries.first }

    /// Who has second most.
    package var second: Entry? {
        guard entries.count > 2 else { return entries.dropFirst().first }
        return entries[1] < entries[2] ? entries[2] : entries[1]
    }

    /// What a key has; 0 where it is not in the ranking.
    package subscript(key: Key) -> Int { places[key].map { entries[$0].value } ?? 0 }

    /// Gives a key so much more, or takes it; who has 0 then is in the ranking no longer.
    package mutating func add(_ change: Int, to key: Key) {
        guard change != 0 else { return }
        guard let place = places[key] else {
            entries.append(Entry(key: key, value: change))
            return rise(from: entries.count - 1)
        }
        entries[place].value += change
        guard entries[place].value != 0 else { return remove(at: place) }
        if change > 0 { rise(from: place) } else { sink(from: place) }
    }

    private mutating func remove(at place: Int) {
        places[entries[place].key] = nil
        let last = entries.removeLast()
        guard place < entries.count else { return }
        entries[place] = last
        if place > 0, entries[(place - 1) / 2] < last {
            rise(from: place)
        } else {
            sink(from: place)
        }
    }

    private mutating func rise(from start: Int) {
        let entry = entries[start]
        var place = start
        while place > 0, entries[(place - 1) / 2] < entry {
            put(entries[(place - 1) / 2], at: place)
            place = (place - 1) / 2
        }
        put(entry, at: place)
    }

    private mutating func sink(from start: Int) {
        let entry = entries[start]
        var place = start
        while case var child = 2 * place + 1, child < entries.count {
            if child + 1 < entries.count, entries[child] < entries[child + 1] { child += 1 }
            guard entry < entries[child] else { break }
            put(entries[child], at: place)
            place = child
        }
        put(entry, at: place)
    }

    private mutating func put(_ entry: Entry, at place: Int) {
        entries[place] = entry
        places[entry.key] = place
    }
}
