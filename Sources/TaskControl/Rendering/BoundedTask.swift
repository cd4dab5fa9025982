internal import TaskAPI

extension Tasks.Task {
    /// The same, with the numbers that are counted with within the ranges that they have: who listens at a socket may
    /// be anybody, and what it answers must not end this process.
    var bounded: Tasks.Task {
        var task = self
        task.priority.clamp(to: .priorities)
        task.slots?.clamp(to: .slotCounts)
        task.budget?.durationMs.clamp(to: .budgetMilliseconds)
        task.budget?.graceMs.clamp(to: .milliseconds)
        task.remaining = remaining?.bounded
        task.usedMs?.clamp(to: .milliseconds)
        task.ageMs.clamp(to: .milliseconds)
        task.endedMs?.clamp(to: .milliseconds)
        task.notBeforeMs?.clamp(to: .milliseconds)
        task.submittedMs?.clamp(to: .milliseconds)
        task.startedMs?.clamp(to: .milliseconds)
        task.warnedMs?.clamp(to: .milliseconds)
        task.attempts = attempts?.map(\.bounded)
        return task
    }
}

extension Tasks.Remaining {
    fileprivate var bounded: Tasks.Remaining {
        var remaining = self
        remaining.ms?.clamp(to: .milliseconds)
        remaining.hardMs?.clamp(to: .milliseconds)
        return remaining
    }
}

extension Tasks.Attempt {
    fileprivate var bounded: Tasks.Attempt {
        var attempt = self
        attempt.usedMs?.clamp(to: .milliseconds)
        attempt.endedMs.clamp(to: .milliseconds)
        attempt.startedMs?.clamp(to: .milliseconds)
        attempt.warnedMs?.clamp(to: .milliseconds)
        return attempt
    }
}

extension Int {
    /// The nearest number in a range.
    func clamped(to range: ClosedRange<Int>) -> Int {
        Swift.min(Swift.max(self, range.lowerBound), range.upperBound)
    }

    fileprivate mutating func clamp(to range: ClosedRange<Int>) { self = clamped(to: range) }
}
