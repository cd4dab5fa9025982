internal import Glibc

extension JSONParser {
    /// Up to so many members are compared pair by pair; beyond it by hash, so that no object costs
    /// the square of its size. `Hasher` is seeded anew by every process, so nobody can prepare
    /// colliding keys.
    private static let pairwiseMax = 8

    /// Refuses an object in which two keys are the same bytes, freed of escapes.
    mutating func refuseDuplicates(object: Int, members: Int) throws(JSONError) {
        guard members <= JSONParser.pairwiseMax else {
            return try refuseDuplicatesByHash(object: object, members: members)
        }
        var key = object &+ 1
        while key < tokens.count {
            let next = tokens[key &+ 1].next(after: key &+ 1)
            var other = next
            while other < tokens.count {
                if sameKey(key, other) { throw JSONError(.duplicateKey, at: offset(of: other)) }
                other = tokens[other &+ 1].next(after: other &+ 1)
            }
            key = next
        }
    }

    private func refuseDuplicatesByHash(object: Int, members: Int) throws(JSONError) {
        var size = 32
        while size < members &* 2 { size &*= 2 }
        var table = [UInt32](repeating: 0, count: size)
        var key = object &+ 1
        while key < tokens.count {
            var hasher = Hasher()
            withKey(key) { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            var slot = hasher.finalize() & (size &- 1)
            while table[slot] != 0 {
                if sameKey(Int(table[slot]), key) {
                    throw JSONError(.duplicateKey, at: offset(of: key))
                }
                slot = (slot &+ 1) & (size &- 1)
            }
            table[slot] = UInt32(truncatingIfNeeded: key)
            key = tokens[key &+ 1].next(after: key &+ 1)
        }
    }

    private func sameKey(_ first: Int, _ second: Int) -> Bool {
        let length = tokens[first].extent
        guard length == tokens[second].extent else { return false }
        guard length > 0 else { return true }
        return withKey(first) { one in
            withKey(second) { other in
                guard let one = one.baseAddress, let other = other.baseAddress else { return false }
                return memcmp(one, other, length) == 0
            }
        }
    }

    @inline(__always)
    private func withKey<R>(_ key: Int, _ body: (UnsafeBufferPointer<UInt8>) -> R) -> R {
        let token = tokens[key]
        let range = token.offset..<token.offset &+ token.extent
        guard token.kind == .unescapedString else {
            return body(UnsafeBufferPointer(rebasing: bytes[range]))
        }
        return unescaped.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range])) }
    }

    /// Where a key stands; for one with escapes, where parsing stands now.
    private func offset(of key: Int) -> Int {
        tokens[key].kind == .plainString ? tokens[key].offset &- 1 : position
    }
}
