import Containers
import TestKit
import Testing

@Suite("Lists of slots")
struct SlotListsTests {
    private enum Kind: SlotListKind, CaseIterable {
        case one, other

        static var count: Int { 2 }
        var place: Int { self == .one ? 0 : 1 }
    }

    @Test("each list keeps its order, whatever the others of the same slots do", arguments: 0..<20)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var lists = SlotLists<Kind>()
        var ends = [SlotLists<Kind>.List(.one), .init(.one), .init(.other)]
        var plain: [[Int]] = [[], [], []]
        for _ in 0..<1000 {
            let slot = Int.random(in: 0..<40, using: &random)
            // A slot is in at most one list of each kind.
            let list = Bool.random(using: &random) ? slot % 2 : 2
            if let place = plain[list].firstIndex(of: slot) {
                lists.remove(slot, from: &ends[list])
                plain[list].remove(at: place)
            } else {
                lists.append(slot, to: &ends[list])
                plain[list].append(slot)
            }
            for (index, kind) in [Kind.one, .one, .other].enumerated() {
                var found: [Int] = []
                var next = ends[index].firstSlot
                while let slot = next, found.count <= 40 {
                    found.append(slot)
                    next = lists.next(after: slot, kind)
                }
                let isSame =
                    found == plain[index] && ends[index].isEmpty == plain[index].isEmpty
                if !isSame { Issue.record("seed \(seed), list \(index)") }
            }
        }
    }
}
