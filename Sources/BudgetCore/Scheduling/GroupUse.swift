/// How many tasks of a group there are.
package struct GroupUse: Equatable, Sendable {
    /// Those that have a slot.
    package internal(set) var runningCount = 0
    /// What these take together.
    package internal(set) var slotsTaken = 0
    package internal(set) var queuedCount = 0
}
