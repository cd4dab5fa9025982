internal import BudgetCore
package import LinuxSystem
internal import TaskStore

extension NotifySocketPool {
    func takeOver(
        _ descriptor: consuming OwnedDescriptor, for task: TaskID, of owner: OwnerID
    ) -> TaskNotifySocket? { nil }
}
extension TaskNotifySocket { var descriptor: Int32? { nil } }
extension OpenedStore {
    package var executorOwner: ExecutorLink.Owner { ExecutorLink.Owner(high: 1, low: 2) }
}
