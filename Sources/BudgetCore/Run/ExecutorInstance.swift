/// One run of the program that runs commands, and goes on while one daemon follows another: no other has this number.
package struct ExecutorInstance: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}
