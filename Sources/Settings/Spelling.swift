/// Finds what somebody meant to write.
package enum Spelling {
    /// Longer words are not compared: the cost grows with the product of the lengths.
    private static let lengthMax = 64

    /// `; did you mean NAME?` where one of the names is near, and nothing otherwise.
    package static func hint(for word: String, among names: [String]) -> String {
        nearest(to: word, among: names).map { "; did you mean \($0)?" } ?? ""
    }

    /// The name with the fewest changes to the word: at most 2, and at most a third of its length;
    /// or else the only one with the same last part, written under the wrong table.
    static func nearest(to word: String, among names: [String]) -> String? {
        let given = Array(word.lowercased().utf8)
        guard !given.isEmpty, given.count <= lengthMax else { return nil }
        var best: (name: String, distance: Int)?
        for name in names {
            let distance = distance(given, Array(name.lowercased().utf8))
            guard distance <= min(2, max(1, given.count / 3)) else { continue }
            if distance < best?.distance ?? .max { best = (name, distance) }
        }
        return best?.name ?? sameLastPart(as: word, among: names)
    }

    private static func sameLastPart(as word: String, among names: [String]) -> String? {
        guard let part = word.split(separator: ".").last else { return nil }
        let same = names.filter {
            $0.contains(".")
                && $0.split(separator: ".").last?.lowercased() == part.lowercased()
        }
        return same.count == 1 ? same.first : nil
    }

    /// Insertions, deletions, replacements and swapped neighbours between two words.
    private static func distance(_ from: [UInt8], _ to: [UInt8]) -> Int {
        var before: [Int] = []
        var last: [Int] = Array(0...to.count)
        for (row, byte) in from.enumerated() {
            var next = [row + 1]
            for (column, other) in to.enumerated() {
                var cost = min(next[column], last[column + 1]) + 1
                cost = min(cost, last[column] + (byte == other ? 0 : 1))
                if row > 0, column > 0, byte == to[column - 1], from[row - 1] == other {
                    cost = min(cost, before[column - 1] + 1)
                }
                next.append(cost)
            }
            before = last
            last = next
        }
        return last[to.count]
    }
}
