internal import BudgetCore
internal import Glibc
internal import LinuxSystem
internal import TaskAPI
internal import Varlink

/// Every method that the daemon has, by its name.
struct CallTable {
    /// Carries a call out, or says what is wrong with it.
    typealias Handler = (Client, Call) throws(CallFailure) -> Void

    /// What most calls call.
    static let frequentMethods = FrequentMethods([Tasks.Begin.name, Tasks.End.name])

    private let tasks: TaskCalls
    private let refusals: RefusalLog
    private let service: ServiceInterface
    private let handlers: [String: Handler]

    init(
        _ tasks: TaskCalls, _ queries: QueryCalls, _ changes: QueueCalls, _ groups: GroupCalls,
        _ applications: ApplicationCalls, _ manager: ManagerCalls, _ refusals: RefusalLog
    ) {
        self.tasks = tasks
        self.refusals = refusals
        let identity = ServiceInterface.Identity(
            vendor: "bgtaskd", product: "bgtaskd", version: Version.current,
            url: "")
        service = ServiceInterface(identity, interfaces: Interfaces.texts)
        handlers = [
            Tasks.Begin.name: tasks.begin,
            Tasks.End.name: tasks.end,
            Tasks.Extend.name: tasks.extend,
            Tasks.Submit.name: tasks.submit,
            Tasks.Restart.name: tasks.restart,
            Tasks.Cancel.name: tasks.cancel,
            Tasks.Clean.name: tasks.clean,
            Tasks.Report.name: tasks.report,
            Tasks.Complete.name: tasks.complete,
            Tasks.Change.name: changes.change,
            Tasks.PauseOwner.name: changes.pauseOwner,
            Tasks.ResumeOwner.name: changes.resumeOwner,
            Tasks.SetSlots.name: groups.setSlots,
            Tasks.RemainingTime.name: queries.remainingTime,
            Tasks.Show.name: queries.show,
            Tasks.ShowSubmission.name: tasks.showSubmission,
            Tasks.List.name: queries.list,
            Tasks.History.name: queries.history,
            Tasks.Watch.name: queries.watch,
            Tasks.Output.name: queries.output,
            Tasks.Wait.name: queries.wait,
            Tasks.Explain.name: queries.explain,
            Tasks.SimulateExpiration.name: tasks.simulateExpiration,
            Tasks.SimulateLaunch.name: changes.simulateLaunch,
            Tasks.Groups.name: groups.groups,
            Tasks.PauseGroup.name: groups.pauseGroup,
            Tasks.ResumeGroup.name: groups.resumeGroup,
            Applications.Register.name: applications.register,
            Applications.Unregister.name: applications.unregister,
            Applications.Launch.name: applications.launch,
            Applications.Adopt.name: applications.adopt,
            Applications.Activate.name: applications.activate,
            Applications.Resign.name: applications.resign,
            Applications.EnterBackground.name: applications.enterBackground,
            Applications.Terminate.name: applications.terminate,
            Applications.Show.name: applications.show,
            Applications.List.name: applications.list,
            Applications.History.name: applications.history,
            Applications.Watch.name: applications.watch,
            Applications.Delivered.name: applications.delivered,
            Applications.Push.name: applications.push,
            Applications.SetBadge.name: applications.setBadge,
            Applications.SetHandles.name: applications.setHandles,
            Applications.SimulateMemoryPressure.name: applications.simulateMemoryPressure,
            Applications.Explain.name: applications.explain,
            Manager.Describe.name: manager.describe,
            Manager.Statistics.name: manager.statistics,
            Manager.Reload.name: manager.reload,
            SystemdService.Ping.name: manager.ping,
            SystemdService.Reload.name: manager.reloadService,
            SystemdService.SetLogLevel.name: manager.setLogLevel,
            SystemdService.GetEnvironment.name: manager.environment,
        ]
    }

    /// Carries a call out, or answers what is wrong with it.
    func answer(_ call: Call, of client: Client) {
        guard client.isServed else { return deny(client) }
        do throws(CallFailure) {
            // Begin and end are most of the calls; the table costs several times as much.
            if call.isOf(Tasks.Begin.name) {
                try tasks.begin(client, call)
            } else if call.isOf(Tasks.End.name) {
                try tasks.end(client, call)
            } else if let handler = handlers[call.method] {
                try handler(client, call)
            } else if service.answer(call, on: &client.connection) == nil {
                client.reply(service.refusal(of: call))
            }
        } catch {
            client.reply(error)
        }
    }

    /// Answers a call of somebody who is not served, and says so once for each connection.
    private func deny(_ client: Client) {
        if client.isDeniedFirst() {
            refusals.say(.userNotServed, client.credentials, "access.users")
        }
        client.reply(
            .service(.permissionDenied, reason: "this daemon serves only the users of access.users")
        )
    }
}

extension Call {
    /// Reads a call's parameters.
    func read<M: Message>(_ type: M.Type) throws(CallFailure) -> M {
        do throws(MessageError) {
            return try decode(type)
        } catch {
            guard case .tooMany(let limit) = error.reason else {
                throw .service(ServiceError(error), reason: error.rule)
            }
            throw .refused(.limitReached(limit: limit.name, value: limit.max))
        }
    }

    /// Whether this method is called: byte by byte, where `==` would first look at what Unicode says of them.
    fileprivate func isOf(_ name: String) -> Bool {
        method.utf8.withContiguousStorageIfAvailable { called in
            name.utf8.withContiguousStorageIfAvailable { name in
                guard called.count == name.count, let one = called.baseAddress,
                    let other = name.baseAddress
                else { return false }
                return memcmp(one, other, name.count) == 0
            }
        } == true
    }
}

extension Core {
    /// Asks the core for something; a refusal becomes the call's failure.
    func ask<Result>(
        _ body: (inout BackgroundTaskRegistry, Instant, inout [Action]) throws(Refusal) -> Result
    ) throws(CallFailure) -> Result {
        do throws(Refusal) {
            return try update(body)
        } catch {
            throw .refused(error)
        }
    }
}

extension TaskID {
    /// The task that a call names.
    init(named number: Int) throws(CallFailure) {
        self = try TaskID(number, in: "id")
    }

    /// - Parameter parameter: the path of the parameter that names it.
    init(_ number: Int, in parameter: String) throws(CallFailure) {
        guard let id = TaskID(number: number) else {
            throw .service(.invalidParameter(parameter: parameter), reason: "is no task's number")
        }
        self = id
    }
}
