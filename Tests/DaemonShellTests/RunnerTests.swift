import BudgetCore
import LinuxSystem
import Testing

@testable import DaemonShell

@Suite("The processes of a task or an application")
struct RunnerTests {
    /// Processes that take note of what they are told.
    private final class Processes: TaskProcesses {
        let identifier: UInt64 = 1
        let freezer = FreezeMethod.cgroup
        let homes: [ProcessHome] = []
        let isFrozen = false
        func processIDs() -> [Int32] { [] }
        func signal(_ number: Int32) -> Int? { 0 }
        func kill() {}
        func close() {}
        func start(_ request: LaunchRequest) throws(LaunchError) -> StartedProcess {
            throw LaunchError(stage: .prepare, errno: 0, subject: "a")
        }
        func setFrozen(_ frozen: Bool) {}
        func readUse() -> ProcessUse? { nil }
    }

    private func runner() -> Runner {
        let owner = OwnerID(rawValue: 1000)
        var shares = OwnerOutputs()
        let share = shares.share(of: owner, bytesPerSecondMax: 1, linesPerSecondMax: 1)
        let id = TaskID(rawValue: 3)
        return Runner(
            id: RunnerID(of: id), owner: owner, commands: .launched(Processes()),
            output: RunnerOutput(.task(id), share))
    }

    @Test("what is ordered before the main command runs is done then, once, in its order")
    func postponed() {
        let runner = runner()
        let orders: [Action] = [
            .signal(TaskID(rawValue: 3), .terminate), .signal(TaskID(rawValue: 3), .kill),
        ]
        #expect(runner.isWaitingForUser)
        #expect(runner.postpones(orders[0]))
        #expect(runner.started().isEmpty, "its user is not known yet")
        runner.userKnown()
        #expect(!runner.isWaitingForUser)
        #expect(runner.postpones(orders[1]))
        #expect(runner.started() == orders)
        #expect(runner.started().isEmpty)
        #expect(!runner.postpones(orders[0]))
    }

    @Test("the ids of tasks and applications are never taken for each other")
    func identifiers() {
        for number in [1, 77, UInt64(Int64.max)] {
            let id = TaskID(rawValue: number)
            guard case .task(let found) = RunnerID(of: id).kind else {
                Issue.record("\(number) is no task")
                continue
            }
            #expect(found == id)
            let application = RunnerID(ofApplication: number)
            guard case .application = application.kind else {
                Issue.record("\(number) is no application")
                continue
            }
            #expect(application != RunnerID(of: id))
            #expect(RunnerID(number: application.number) == application)
        }
    }
}
