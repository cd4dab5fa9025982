internal import Glibc

extension JSONView {
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
    ///
    /// - Parameter end: where parsing stands.
    @inline(never)
    func refuseDuplicates(object: Int, end: Int) throws(JSONError) {
        if hasTwoKeysOfTwoLengths(object) { return }
        var seen: UInt64 = 0
        var members = 0
        var key = object &+ 1
        while key < count {
            let token = self[key]
            let bit = (1 as UInt64) &<< (firstByte(of: token) &+ UInt64(token.extent) &* 5)
            if seen & bit != 0 {
                guard members < JSONView.comparedMax else {
                    return try refuseDuplicatesByHash(object: object, end: end)
                }
                if isRepetition(key, in: object) { throw duplicate(key, in: object, end: end) }
            }
            seen |= bit
            members &+= 1
            key = next(key)
        }
    }

    /// Tells whether an object of two members or more has just two, with keys that cannot be the same.
    @inline(__always)
    private func hasTwoKeysOfTwoLengths(_ object: Int) -> Bool {
        let second = next(object &+ 1)
        return self[object &+ 1].extent != self[second].extent && next(second) == count
    }

    /// The first byte of a string; of an empty one, its quote.
    @inline(__always)
    private func firstByte(of token: JSONToken) -> UInt64 {
        bytes(of: token).baseAddress.map { UInt64($0.pointee) } ?? 0
    }

    private func isRepetition(_ key: Int, in object: Int) -> Bool {
        var earlier = object &+ 1
        while earlier < key {
            if sameKey(earlier, key) { return true }
            earlier = next(earlier)
        }
        return false
    }

    private func sameKey(_ first: Int, _ second: Int) -> Bool {
        let one = bytes(of: self[first])
        let other = bytes(of: self[second])
        guard one.count == other.count else { return false }
        guard let start = one.baseAddress, let otherStart = other.baseAddress else { return true }
        return memcmp(start, otherStart, one.count) == 0
    }

    /// The key after the member with this key.
    @inline(__always)
    private func next(_ key: Int) -> Int { self[key &+ 1].next(after: key &+ 1) }

    /// The error about an object of which `repetition` is the first key that has been there before.
    private func duplicate(_ repetition: Int, in object: Int, end: Int) -> JSONError {
        guard members(of: object) <= JSONView.pairwiseMax else {
            return duplicate(repetition, end: end)
        }
        var first = object &+ 1
        while first < repetition {
            var other = next(first)
            while other < count {
                if sameKey(first, other) { return duplicate(other, end: end) }
                other = next(other)
            }
            first = next(first)
        }
        return duplicate(repetition, end: end)
    }

    /// The error at where a key stands; for one with escapes, where parsing stands.
    private func duplicate(_ key: Int, end: Int) -> JSONError {
        let token = self[key]
        return JSONError(.duplicateKey, at: token.has(.plainString) ? token.offset &- 1 : end)
    }

    private func members(of object: Int) -> Int {
        var members = 0
        var key = object &+ 1
        while key < count {
            members &+= 1
            key = next(key)
        }
        return members
    }

    private func refuseDuplicatesByHash(object: Int, end: Int) throws(JSONError) {
        let members = members(of: object)
        var size = 64
        while size < members &* 2 { size &*= 2 }
        var table = [UInt32](repeating: 0, count: size)
        var key = object &+ 1
        while key < count {
            var hasher = Hasher()
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes(of: self[key])))
            var slot = hasher.finalize() & (size &- 1)
            while table[slot] != 0 {
                if sameKey(Int(table[slot]), key) { throw duplicate(key, end: end) }
                slot = (slot &+ 1) & (size &- 1)
            }
            table[slot] = UInt32(truncatingIfNeeded: key)
            key = next(key)
        }
    }
}
