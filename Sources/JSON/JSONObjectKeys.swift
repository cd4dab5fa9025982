internal import Glibc

/// The keys of an object that has just been closed, and is the last value of the tape so far.
struct JSONObjectKeys {
    private let view: JSONView
    private let object: Int
    /// Where parsing stands.
    private let end: Int
    /// How many tokens there are.
    private let count: Int

    @inline(__always)
    init(of object: Int, in view: JSONView, end: Int) {
        (self.object, self.view, self.end) = (object, view, end)
        count = view.count
    }

    /// Up to so many members are compared with each other; beyond it by hash, so that no object
    /// costs the square of its size. `Hasher` is seeded anew by every process, so nobody can prepare
    /// colliding keys.
    private static var comparedMax: Int { 16 }
    /// Of an object with up to so many members, the error names the repetition of the first key that
    /// is repeated; of a larger one, the first repetition.
    private static var pairwiseMax: Int { 8 }

    /// Refuses an object in which two keys are the same bytes, freed of escapes.
    ///
    /// Keys that differ in their length or their first byte mostly have bits of their own among 64,
    /// and those that have need not be compared.
    @inline(never)
    func refuseDuplicates() throws(JSONError) {
        if hasTwoKeysOfTwoLengths { return }
        var seen: UInt64 = 0
        var members = 0
        var key = object &+ 1
        while key < count {
            let token = view[key]
            let bit = (1 as UInt64) &<< (firstByte(of: token) &+ UInt64(token.extent) &* 5)
            if seen & bit != 0 {
                guard members < JSONObjectKeys.comparedMax else {
                    return try refuseDuplicatesByHash()
                }
                if isRepetition(key) { throw firstDuplicate(key) }
            }
            seen |= bit
            members &+= 1
            key = next(key)
        }
    }

    /// Whether an object of two members or more has just two, with keys that cannot be the same.
    @inline(__always)
    private var hasTwoKeysOfTwoLengths: Bool {
        let second = next(object &+ 1)
        return view[object &+ 1].extent != view[second].extent && next(second) == count
    }

    /// The first byte of a string; of an empty one, its quote.
    @inline(__always)
    private func firstByte(of token: JSONToken) -> UInt64 {
        view.bytes(of: token).baseAddress.map { UInt64($0.pointee) } ?? 0
    }

    private func isRepetition(_ key: Int) -> Bool {
        var earlier = object &+ 1
        while earlier < key {
            if sameKey(earlier, key) { return true }
            earlier = next(earlier)
        }
        return false
    }

    private func sameKey(_ first: Int, _ second: Int) -> Bool {
        let one = view.bytes(of: view[first])
        let other = view.bytes(of: view[second])
        guard one.count == other.count else { return false }
        guard let start = one.baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, one.count) == 0
    }

    /// The key after the member with this key.
    @inline(__always)
    private func next(_ key: Int) -> Int { view[key &+ 1].next(after: key &+ 1) }

    /// The error about an object of which `repetition` is the first key that has been there before.
    private func firstDuplicate(_ repetition: Int) -> JSONError {
        guard members <= JSONObjectKeys.pairwiseMax else { return duplicate(repetition) }
        var first = object &+ 1
        while first < repetition {
            var other = next(first)
            while other < count {
                if sameKey(first, other) { return duplicate(other) }
                other = next(other)
            }
            first = next(first)
        }
        return duplicate(repetition)
    }

    /// The error at where a key stands; for one with escapes, where parsing stands.
    private func duplicate(_ key: Int) -> JSONError {
        let token = view[key]
        return JSONError(.duplicateKey, at: token.has(.plainString) ? token.offset &- 1 : end)
    }

    private var members: Int {
        var members = 0
        var key = object &+ 1
        while key < count {
            members &+= 1
            key = next(key)
        }
        return members
    }

    private func refuseDuplicatesByHash() throws(JSONError) {
        var size = 64
        let members = members
        while size < members &* 2 { size &*= 2 }
        var table = [UInt32](repeating: 0, count: size)
        var key = object &+ 1
        while key < count {
            var hasher = Hasher()
            hasher.combine(bytes: UnsafeRawBufferPointer(view.bytes(of: view[key])))
            var slot = hasher.finalize() & (size &- 1)
            while table[slot] != 0 {
                if sameKey(Int(table[slot]), key) { throw duplicate(key) }
                slot = (slot &+ 1) & (size &- 1)
            }
            table[slot] = UInt32(truncatingIfNeeded: key)
            key = next(key)
        }
    }
}
