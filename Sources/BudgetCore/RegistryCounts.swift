/// What has been counted since the start.
package struct RegistryCounts: Equatable, Sendable {
    package internal(set) var begunHeld = 0
    package internal(set) var begunRun = 0
    package internal(set) var handlersFired = 0
    /// Attempts after which a task was queued again.
    package internal(set) var attemptsEnded = 0
    private var outcomes = Array(repeating: 0, count: Outcome.allCases.count)

    package subscript(outcome: Outcome) -> Int { outcomes[Int(outcome.rawValue)] }

    mutating func count(_ outcome: Outcome) {
        outcomes[Int(outcome.rawValue)] += 1
    }
}
