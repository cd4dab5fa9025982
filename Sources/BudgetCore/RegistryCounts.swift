package import Containers

/// What has been counted since the start.
package struct RegistryCounts: Equatable, Sendable {
    package internal(set) var begunHeld = 0
    package internal(set) var begunRun = 0
    package internal(set) var handlersFired = 0
    /// Attempts after which a task was queued again.
    package internal(set) var attemptsEnded = 0
    /// Suspended applications that were killed since memory was short.
    package internal(set) var memoryPressureKills = 0
    /// How long after their deadline handlers have fired: one bound is the millisecond of rule 6.
    package private(set) var handlerLateness = Histogram(firstBound: 15_625, boundCount: 21)
    /// The same of hard limits.
    package private(set) var limitLateness = Histogram(firstBound: 15_625, boundCount: 21)
    /// How long commands have waited that were started, from when their own time had come; up to three days.
    package private(set) var queueWait = Histogram(
        firstBound: 1_000_000, bitsPerBucket: 2, boundCount: 15)
    private var outcomes = Array(repeating: 0, count: Outcome.allCases.count)

    package subscript(outcome: Outcome) -> Int { outcomes[Int(outcome.rawValue)] }

    mutating func handlerFires(lateByNanoseconds late: Int64) {
        handlerLateness.record(nanoseconds: late)
    }

    mutating func limitReached(lateByNanoseconds late: Int64) {
        limitLateness.record(nanoseconds: late)
    }

    mutating func started(afterNanoseconds wait: Int64) {
        queueWait.record(nanoseconds: wait)
    }

    mutating func count(_ outcome: Outcome) {
        outcomes[Int(outcome.rawValue)] += 1
    }
}
