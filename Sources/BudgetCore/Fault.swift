/// What must never happen, and did: a mistake of the daemon's own, whatever its peers do.
///
/// Nothing follows from the event, so that what is known stays as it was.
package struct Fault: Equatable, Sendable {
    /// The longest text of each kind, in bytes of UTF-8.
    private static let bytesMax = 512

    package let event: String
    /// How that stood to which it happened.
    package let state: String
    /// `nil` where it is about no task.
    package let task: TaskID?

    package init(_ event: String, state: String, of task: TaskID? = nil) {
        self.event = event.cut(toBytes: Fault.bytesMax)
        self.state = state.cut(toBytes: Fault.bytesMax)
        self.task = task
    }
}
