import TestKit
import Testing

/// What is kept with a command in eight words comes back from them as it was, and from no other words.
///
/// - Parameter random: chooses the bit that is another in those.
func expectWordsAreItsOwn<Notes: Equatable>(
    _ notes: Notes, words: (Notes) -> [UInt64], _ read: ([UInt64]) -> Notes?,
    _ random: inout SeededGenerator
) {
    let own = words(notes)
    #expect(own.count == 8 && read(own) == notes)
    #expect(read(own.dropLast()) == nil)
    #expect(read(own + [0]) == nil)
    var other = own
    other[Int.random(in: 0..<8, using: &random)] ^= 1 << UInt64.random(in: 0..<64, using: &random)
    #expect(read(other).map(words) ?? other == other)
    #expect(read(other) != notes)
    #expect(read(Array(repeating: 0, count: 8)) == nil)
    #expect(read(Array(repeating: .max, count: 8)) == nil)
}
