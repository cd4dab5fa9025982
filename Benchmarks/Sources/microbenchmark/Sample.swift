internal import TaskAPI

/// Messages as the daemon sends them.
enum Sample {
    static let begun = {
        var output = Tasks.Begin.Output()
        output.id = 1_234_567
        output.remaining = remaining
        return output
    }()

    static let ended = {
        var output = Tasks.End.Output()
        output.outcome = .completed
        return output
    }()

    static let submitted = {
        var output = Tasks.Submit.Output()
        output.id = 1_234_567
        return output
    }()

    /// A command that has ended.
    static let event = {
        var output = Tasks.Watch.Output()
        output.event.number = 17
        output.event.kind = .ended
        output.event.task.id = 1_234_567
        output.event.task.name = "nightly backup"
        output.event.task.kind = .run
        output.event.task.owner = 1000
        output.event.task.state = .ended
        output.event.task.outcome = .completed
        output.event.task.profile = "default"
        output.event.task.command = ["/usr/bin/rsync", "-a", "/home/zoë/", "backup:/srv/zoë/"]
        output.event.task.remaining = remaining
        output.event.task.usedMs = 12_345
        output.event.task.ageMs = 12_346
        output.event.task.endedMs = 0
        output.event.task.attempt = 1
        output.event.task.cpuMs = 1234
        output.event.task.memoryPeakBytes = 12_345_678
        return output
    }()

    private static let remaining = {
        var remaining = Tasks.Remaining()
        remaining.ms = 175_000
        remaining.hardMs = 180_000
        remaining.bound = .ownBudget
        return remaining
    }()
}
