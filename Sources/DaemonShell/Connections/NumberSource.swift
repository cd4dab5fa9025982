/// Numbers for what has to be told apart in this run: connections, processes that hold tasks, applications, calls.
final class NumberSource {
    private var last: UInt64 = 0

    /// One that nothing else has.
    func next() -> UInt64 {
        last += 1
        return last
    }
}
