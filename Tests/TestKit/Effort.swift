internal import Glibc

/// How much a test does that goes through seeds.
package enum Effort {
    /// The second number where BGTASK_LONG is set (`make test-long`).
    package static func choose(_ usual: UInt64, _ long: UInt64) -> UInt64 {
        getenv("BGTASK_LONG") == nil ? usual : long
    }
}
