import Containers
import Testing

@Suite("Values that copies share")
struct CopyOnWriteTests {
    @Test("a change of one copy is not seen in the other, and equal values are equal")
    func copies() {
        let one = CopyOnWrite([1])
        var other = one
        #expect(one == other)
        other.value.append(2)
        #expect(one.value == [1] && other.value == [1, 2])
        #expect(one != other)
        #expect(other == CopyOnWrite([1, 2]))
    }
}
