/// How the queue stands.
package struct QueueStanding: Equatable, Sendable {
    /// Tasks that wait for a slot, a condition or another one of their name.
    package var readyCount = 0
    /// Tasks whose own time has not come: their earliest begin, or the delay before another attempt.
    package var earlyCount = 0
    /// Tasks that are paused, by themselves or with their group or owner, come after others, or are being changed.
    package var heldBackCount = 0
    /// How long the one has been ready that was submitted first; `zero` where none is ready.
    package var oldestWait: Duration = .zero
}
