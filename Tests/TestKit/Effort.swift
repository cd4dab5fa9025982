internal import Glibc

/// How much a test does that goes through seeds.
package enum Effort {
    /// The usual count of seeds or rounds, or the long one where BGTASK_LONG is set (`make test-long`); with a
    /// sanitizer, which slows everything down (BGTASK_SANITIZED, `make sanitize`), a tenth of it, and one at least.
    package static func choose<Count: BinaryInteger>(_ usual: Count, _ long: Count? = nil) -> Count
    {
        let count = getenv("BGTASK_LONG") == nil ? usual : long ?? usual
        return getenv("BGTASK_SANITIZED") == nil ? count : max(count / 10, 1)
    }
}
