/// A key that counts how often one of its kind is looked at, to be compared or to be found in a table.
package struct CountedKey: Hashable, Comparable {
    /// How often keys have been looked at.
    package final class Looks {
        package private(set) var count = 0

        package init() {}

        fileprivate func look() { count += 1 }

        /// The looks that `body` takes.
        package func taken(by body: () -> Void) -> Int {
            let before = count
            body()
            return count - before
        }
    }

    package let number: Int
    private let looks: Looks

    package init(_ number: Int, _ looks: Looks) {
        self.number = number
        self.looks = looks
    }

    package static func == (key: CountedKey, other: CountedKey) -> Bool {
        key.looks.look()
        return key.number == other.number
    }

    package static func < (key: CountedKey, other: CountedKey) -> Bool {
        key.looks.look()
        return key.number < other.number
    }

    package func hash(into hasher: inout Hasher) {
        looks.look()
        hasher.combine(number)
    }
}
