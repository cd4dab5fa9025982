internal import Glibc

/// How much a test does that goes through seeds.
package enum Effort {
    /// The usual count of seeds or rounds, or the long one where BGTASK_LONG is set (`make test-long`). Less, and one at
    /// least, where all is slow: a quarter of it in a debug build, as what ships goes through all of them, and a tenth
    /// with a sanitizer (BGTASK_SANITIZED, `make sanitize`).
    package static func choose<Count: BinaryInteger>(_ usual: Count, _ long: Count? = nil) -> Count
    {
        let isLong = getenv("BGTASK_LONG") != nil
        let count = isLong ? long ?? usual : usual
        if getenv("BGTASK_SANITIZED") != nil { return max(count / 10, 1) }
        return isLong ? count : max(count / Count(share), 1)
    }

    #if DEBUG
        private static let share = 4
    #else
        private static let share = 1
    #endif
}
