internal import BudgetCore
internal import Glibc
internal import LinuxSystem
internal import TaskAPI
internal import Varlink

extension Daemon {
    /// Tells which of the daemon's methods takes a call.
    typealias Handler = @Sendable (Daemon) -> (Client, Call, Instant) throws(CallFailure) -> Void

    /// What most calls call.
    static let frequentMethods = FrequentMethods([Tasks.Begin.name, Tasks.End.name])

    /// Every method that the daemon has, by its name.
    static let handlers: [String: Handler] = [
        Tasks.Begin.name: Daemon.begin,
        Tasks.End.name: Daemon.end,
        Tasks.Extend.name: Daemon.extend,
        Tasks.Submit.name: Daemon.submit,
        Tasks.Cancel.name: Daemon.cancel,
        Tasks.RemainingTime.name: Daemon.remainingTime,
        Tasks.Show.name: Daemon.show,
        Tasks.List.name: Daemon.list,
        Tasks.History.name: Daemon.history,
        Tasks.Watch.name: Daemon.watch,
        Tasks.Output.name: Daemon.output,
        Tasks.Wait.name: Daemon.wait,
        Tasks.Explain.name: Daemon.explain,
        Tasks.SimulateExpiration.name: Daemon.simulateExpiration,
        Tasks.Groups.name: Daemon.groups,
        Tasks.PauseGroup.name: Daemon.pauseGroup,
        Tasks.ResumeGroup.name: Daemon.resumeGroup,
        Applications.Register.name: Daemon.registerApplication,
        Applications.Unregister.name: Daemon.unregisterApplication,
        Applications.Launch.name: Daemon.launchApplication,
        Applications.Adopt.name: Daemon.adoptApplication,
        Applications.Activate.name: Daemon.activateApplication,
        Applications.Resign.name: Daemon.resignApplication,
        Applications.EnterBackground.name: Daemon.sendToBackground,
        Applications.Terminate.name: Daemon.terminateApplication,
        Applications.Show.name: Daemon.showApplication,
        Applications.List.name: Daemon.listApplications,
        Applications.Watch.name: Daemon.watchApplications,
        Applications.Delivered.name: Daemon.messageDelivered,
        Applications.Push.name: Daemon.pushMessage,
        Applications.SetBadge.name: Daemon.setBadge,
        Applications.SimulateMemoryPressure.name: Daemon.simulateMemoryPressure,
        Applications.Explain.name: Daemon.explainApplication,
        Manager.Describe.name: Daemon.describe,
        Manager.Statistics.name: Daemon.statistics,
        Manager.Reload.name: Daemon.reload,
        SystemdService.Ping.name: Daemon.ping,
        SystemdService.Reload.name: Daemon.reloadService,
        SystemdService.SetLogLevel.name: Daemon.setLogLevel,
        SystemdService.GetEnvironment.name: Daemon.environment,
    ]

    static var serviceInterface: ServiceInterface {
        let identity = ServiceInterface.Identity(
            vendor: "bgtaskd", product: "bgtaskd", version: Version.current,
            url: "")
        return ServiceInterface(identity, interfaces: Interfaces.texts)
    }

    /// Carries a call out, or answers what is wrong with it.
    func answer(_ call: Call, of client: Client, at now: Instant) {
        guard client.isServed else { return deny(client) }
        do throws(CallFailure) {
            // Begin and end are most of the calls; the table costs several times as much.
            if call.isOf(Tasks.Begin.name) {
                try begin(client, call, now)
            } else if call.isOf(Tasks.End.name) {
                try end(client, call, now)
            } else if let handler = Daemon.handlers[call.method] {
                try handler(self)(client, call, now)
            } else if service.answer(call, on: &client.connection) == nil {
                client.reply(service.refusal(of: call))
            }
        } catch {
            client.reply(error)
        }
        perform(at: now)
    }

    /// Reads a call's parameters.
    func decode<M: Message>(_ call: Call, as type: M.Type) throws(CallFailure) -> M {
        do throws(MessageError) {
            return try call.decode(type)
        } catch {
            guard case .tooMany(let limit) = error.reason else {
                throw .service(ServiceError(error))
            }
            throw .refused(.limitReached(limit: limit.name, value: limit.max))
        }
    }

    /// Asks the core; a refusal becomes the call's failure.
    func ask<Result>(
        _ body: (inout BackgroundTaskRegistry, inout [Action]) throws(Refusal) -> Result
    ) throws(CallFailure) -> Result {
        do throws(Refusal) {
            return try body(&registry, &actions)
        } catch {
            throw .refused(error)
        }
    }

    /// The task that a call names.
    func identifier(_ number: Int) throws(CallFailure) -> TaskID {
        guard let id = TaskID(number: number) else { throw .invalid("id") }
        return id
    }
}

extension Call {
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
