internal import BackgroundTime
internal import Foundation
internal import TaskAPI

/// The time that this process has in the background.
enum BackgroundTimeLeft {
    /// Until it is told that its time is nearly over; `nil` where no limit is in force.
    static var now: TimeInterval? {
        if let held = HeldTasks.shared.remaining() { return held }
        return switch ProcessRole.current {
        case .program: nil
        // Without a task it is the time until it is suspended.
        case .application(let id): ofApplication(id)
        case .scheduledTask: Environment.value("BGTASK_ID").flatMap { Int($0) }.flatMap(ofTask)
        }
    }

    private static func ofApplication(_ id: String) -> TimeInterval? {
        var input = Applications.Reference()
        input.id = id
        let shown = try? Daemon.endpoint.call(Applications.Show.self, input)
        return seconds(shown?.application.remainingMs)
    }

    private static func ofTask(_ id: Int) -> TimeInterval? {
        var input = Tasks.Reference()
        input.id = id
        return seconds(
            try? Daemon.endpoint.call(Tasks.RemainingTime.self, input).remaining.ms)
    }

    private static func seconds(_ milliseconds: Int?) -> TimeInterval? {
        milliseconds.map { TimeInterval($0) / 1000 }
    }
}
