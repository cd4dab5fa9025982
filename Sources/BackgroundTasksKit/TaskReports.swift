internal import Dispatch
internal import Foundation
internal import Synchronization
internal import TaskAPI

/// What a held task says of itself. It may say that as often as it likes: the daemon is told at most every 100 ms.
final class TaskReports: Sendable {
    private static let interval = DispatchTimeInterval.milliseconds(100)

    private let queue = DispatchQueue(label: "org.bgtaskd.reports")
    private let state = Mutex(State())

    private struct State {
        /// The task, once it has begun.
        var id: Int?
        /// What is still to be told.
        var report: Tasks.Report.Input?
        var isScheduled = false
        /// Nothing more is taken.
        var isOver = false
        var next = DispatchTime.now()
    }

    /// The task has begun: tells what was said until now, and what is said from now on.
    func begun(as id: Int) {
        state.withLock { $0.id = id }
        queue.async { [self] in send() }
    }

    /// - Parameter text: for people; what they see stays if not given.
    func report(_ text: String) {
        change { $0.text = text }
    }

    /// - Parameter total: 0 where it is not known.
    func report(completed: Int64, total: Int64) {
        change {
            $0.completed = Int(max(completed, 0))
            $0.total = total > 0 ? Int(total) : nil
        }
    }

    /// Tells what is still to be told, and nothing after it.
    ///
    /// - Returns: the task.
    func finish() -> Int? {
        let id = state.withLock { state in
            state.isOver = true
            return state.id
        }
        queue.sync { send() }
        return id
    }

    private func change(_ change: (inout Tasks.Report.Input) -> Void) {
        let next = state.withLock { state -> DispatchTime? in
            guard !state.isOver else { return nil }
            var report = state.report ?? Tasks.Report.Input()
            change(&report)
            state.report = report
            guard !state.isScheduled, state.id != nil else { return nil }
            state.isScheduled = true
            return max(state.next, .now())
        }
        guard let next else { return }
        queue.asyncAfter(deadline: next) { [self] in send() }
    }

    private func send() {
        let report = state.withLock { state -> Tasks.Report.Input? in
            guard let id = state.id, var report = state.report else { return nil }
            (state.report, state.isScheduled) = (nil, false)
            state.next = .now() + Self.interval
            report.id = id
            return report
        }
        if let report { HeldTasks.shared.report(report) }
    }
}

/// Progress that is told when its units are set: nothing can observe a `Progress` here.
///
/// `@unchecked Sendable`: it adds nothing that changes.
final class ReportedProgress: Progress, @unchecked Sendable {
    private let reports: TaskReports

    init(_ reports: TaskReports) {
        self.reports = reports
        super.init(parent: nil, userInfo: nil)
    }

    override var completedUnitCount: Int64 {
        get { super.completedUnitCount }
        set {
            super.completedUnitCount = newValue
            tell()
        }
    }

    override var totalUnitCount: Int64 {
        get { super.totalUnitCount }
        set {
            super.totalUnitCount = newValue
            tell()
        }
    }

    private func tell() {
        reports.report(completed: super.completedUnitCount, total: super.totalUnitCount)
    }
}
