/// What an earlier daemon has left, and what became of it.
package struct Leftovers: Equatable, Sendable {
    /// How many processes were found.
    package var count = 0
    /// Those that are there after SIGKILL: in an uninterruptible wait, mostly for a file system that does not
    /// answer. None of them runs a line of its program again.
    package var unkillable: [Int32] = []
    /// The control group that they were in, which is there still.
    package var group: String?

    package init(count: Int = 0, unkillable: [Int32] = []) {
        self.count = count
        self.unkillable = unkillable
    }
}
