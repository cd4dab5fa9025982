package import BudgetCore

/// Stands for the processes of a task, or of an application from its start to its end. Their host knows them by its
/// number.
package struct RunnerID: Hashable {
    /// Tasks have the numbers of their ids, in the lower half; applications those of the upper half.
    package let number: UInt64

    private static let applicationMark: UInt64 = 1 << 63
    private static let adoptedMark: UInt64 = 1 << 62

    /// Whose they are.
    package enum Kind {
        case task(TaskID)
        case application
    }

    package init(number: UInt64) {
        self.number = number
    }

    package init(of task: TaskID) {
        number = task.rawValue
    }

    /// - Parameter run: the number of the run of a launched application.
    package init(ofApplication run: UInt64) {
        number = Self.applicationMark | run
    }

    /// - Parameter serial: a number that no other adopted application has had.
    init(ofAdopted serial: UInt64) {
        number = Self.applicationMark | Self.adoptedMark | serial
    }

    /// The number of the run of the application; not for tasks.
    var run: UInt64 { number & ~Self.applicationMark }

    package var kind: Kind {
        number & Self.applicationMark == 0 ? .task(TaskID(rawValue: number)) : .application
    }
}
