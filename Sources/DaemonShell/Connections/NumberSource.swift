/// Numbers for what has to be told apart in this run: connections, processes that hold tasks, applications, calls.
package final class NumberSource {
    private var last: UInt64 = 0

    package init() {}

    /// One that nothing else has.
    package func next() -> UInt64 {
        last += 1
        return last
    }
}
