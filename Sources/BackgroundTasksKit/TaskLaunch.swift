internal import BackgroundTime
internal import Foundation
internal import TaskAPI

/// How the daemon has the program perform a scheduled task.
enum TaskLaunch {
    /// In a process of its own, beside one that runs already: the same program with the same arguments, which finds the
    /// task in these variables and ends with it. See ``ProcessRole`` and ``ApplicationRun``.
    case ownProcess
    /// In the registered application itself, which is thawed or started in the background for it.
    case wake(String)

    static let identifierVariable = "BGTASK_LAUNCH_IDENTIFIER"
    static let kindVariable = "BGTASK_LAUNCH_KIND"

    /// How a process asks for it.
    init(for role: ProcessRole) {
        switch role {
        case .program, .scheduledTask: self = .ownProcess
        case .application(let id): self = .wake(id)
        }
    }

    /// The work of a task, as it is launched; when that may be is still to be said.
    ///
    /// - Returns: `nil` where the program does not know its own file.
    func work(_ identifier: String, _ kind: BGTaskKind) -> Tasks.Work? {
        var work = Tasks.Work()
        work.name = identifier
        work.profile = kind.profile
        switch self {
        case .ownProcess:
            guard let program = TaskLaunch.program else { return nil }
            work.command = [program] + CommandLine.arguments.dropFirst()
            work.directory = FileManager.default.currentDirectoryPath
            work.environment = [
                TaskLaunch.identifierVariable: identifier, TaskLaunch.kindVariable: kind.rawValue,
            ]
        case .wake(let id): (work.application, work.wake) = (id, true)
        }
        return work
    }

    /// Whether a queued task was submitted by this program.
    func isOwn(_ task: Tasks.Task) -> Bool {
        switch self {
        case .ownProcess: task.command?.first == TaskLaunch.program
        case .wake(let id): task.wake == true && task.application == id
        }
    }

    /// The file of this program, also after an upgrade has put another one in its place.
    private static var program: String? {
        let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let gone = " (deleted)"
        return path.map { $0.hasSuffix(gone) ? String($0.dropLast(gone.count)) : $0 }
    }
}
