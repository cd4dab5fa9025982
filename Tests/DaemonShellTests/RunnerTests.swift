import BudgetCore
import DaemonShell
import Testing

@Suite("The processes of a task or an application")
struct RunnerTests {
    @Test("what is ordered before the main command runs is done then, once, in its order")
    func postponed() {
        var start = CommandStart()
        let orders: [Action] = [
            .signal(TaskID(rawValue: 3), .terminate), .signal(TaskID(rawValue: 3), .kill),
        ]
        #expect(start.isWaitingForUser)
        let isFirstPostponed = start.postpones(orders[0])
        #expect(isFirstPostponed)
        let before = start.started()
        #expect(before.isEmpty, "its user is not known yet")
        start.userKnown()
        #expect(!start.isWaitingForUser)
        let isSecondPostponed = start.postpones(orders[1])
        #expect(isSecondPostponed)
        let waiting = start.started()
        #expect(waiting == orders)
        let again = start.started()
        #expect(again.isEmpty)
        let isPostponedThen = start.postpones(orders[0])
        #expect(!isPostponedThen)
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
