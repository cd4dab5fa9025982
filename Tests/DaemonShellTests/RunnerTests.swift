import BudgetCore
import Testing

@testable import DaemonShell

@Suite("The processes of a task or an application")
struct RunnerTests {
    @Test("what is ordered before the main command runs is done then, once, in its order")
    func postponed() {
        var start = CommandStart()
        let orders: [Action] = [
            .signal(TaskID(rawValue: 3), .terminate), .signal(TaskID(rawValue: 3), .kill),
        ]
        #expect(start.isWaitingForUser)
        #expect(start.postpones(orders[0]))
        #expect(start.started().isEmpty, "its user is not known yet")
        start.userKnown()
        #expect(!start.isWaitingForUser)
        #expect(start.postpones(orders[1]))
        #expect(start.started() == orders)
        #expect(start.started().isEmpty)
        #expect(!start.postpones(orders[0]))
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
