internal import BudgetCore

/// Hands each order of the core to the part that carries it out.
struct ActionRouter {
    let tasks: TaskRunner
    let applications: ApplicationRunner
    let events: TaskEvents
    let store: Persistence
    let replies: PendingReplies
    let faults: FaultLog

    func perform(_ action: Action) {
        switch action {
        case .tell(let happening, let id): events.tell(happening, id)
        case .launch(let id): tasks.launchLater(id)
        case .warn(let id): tasks.warn(id)
        case .signal(let id, let signal): tasks.send(signal, to: id)
        case .killAll(let id): tasks.killAll(id)
        case .store(let step): store.order(step)
        case .answer(let id, let refusal): replies.resolveAll(.order(id), refusal)
        case .answerGroup(let group, let refusal): replies.resolveFirst(.group(group), refusal)
        case .answerOwner(let owner, let refusal): replies.resolveFirst(.owner(owner), refusal)
        case .answerSlots(let group, let refusal): replies.resolveFirst(.slots(group), refusal)
        case .answerCleaning(let owner, let refusal):
            replies.resolveFirst(.cleaning(owner), refusal)
        case .answerChange(let id, let refusal): replies.resolveFirst(.change(id), refusal)
        case .application(let key, let order): applications.perform(order, for: key)
        case .fault(let fault): faults.record(fault)
        case .oldTasksNotNamed(let count): events.oldTasksNotNamed(count)
        }
    }
}
