import JSON
import TaskAPI
import Varlink

/// What a call answered: nothing wrong, or the last part of the error's name.
enum Answer: Equatable {
    case fine
    case error(String)

    static let ended = error("AlreadyEnded")
    static let notAccepting = error("NotAccepting")
    static let invalid = error("InvalidParameter")
    static let denied = error("PermissionDenied")
    static let unknown = error("NoSuchTask")
    static let noGroup = error("NoSuchGroup")
    static let noApplication = error("NoSuchApplication")
    static let wrongState = error("WrongState")
    static let cannotContain = error("CannotContain")

    init(_ reply: JSONValue) {
        guard case .string(let name)? = reply["error"] else {
            self = .fine
            return
        }
        self = .error(name.split(separator: ".").last.map(String.init) ?? name)
    }
}

/// The kinds of tasks that a call may name.
enum Target: CaseIterable {
    case heldLive, runLive, heldEnded, runEnded
}

/// Every method, and whom it answers what.
enum AccessTable {
    enum Row {
        /// About one task; what it answers to who may reach that, by the kind of the task.
        case task([Target: Answer])
        /// About one application; what it answers to its owner where that is registered and does not run.
        case application(Answer)
        /// The daemon's own affairs; what it answers to an operator.
        case operators(Answer)
        /// For everybody, each about what is their own.
        case everybody(Answer)
    }

    static let rows: [String: Row] = [
        Tasks.End.name: task(.fine, .notAccepting, .fine, .fine),
        Tasks.Extend.name: task(.fine, .fine, .ended, .ended),
        Tasks.Cancel.name: task(.fine, .fine, .ended, .ended),
        Tasks.Change.name: task(.notAccepting, .notAccepting, .ended, .ended),
        Tasks.RemainingTime.name: task(.fine, .fine, .ended, .ended),
        Tasks.Show.name: task(.fine, .fine, .fine, .fine),
        Tasks.Watch.name: task(.fine, .fine, .fine, .fine),
        Tasks.Output.name: task(.invalid, .fine, .invalid, .fine),
        Tasks.Wait.name: task(.fine, .fine, .fine, .fine),
        Tasks.Explain.name: task(.fine, .fine, .fine, .fine),
        Tasks.SimulateExpiration.name: task(.fine, .fine, .ended, .ended),
        Tasks.SimulateLaunch.name: task(.notAccepting, .notAccepting, .ended, .ended),
        Tasks.Restart.name: task(.notAccepting, .notAccepting, .notAccepting, .fine),
        Tasks.ShowSubmission.name: task(.notAccepting, .fine, .notAccepting, .fine),
        Tasks.Report.name: task(.fine, .fine, .ended, .ended),
        Tasks.Complete.name: task(.fine, .fine, .ended, .ended),
        Tasks.Clean.name: .everybody(.fine),
        Tasks.Begin.name: .everybody(.fine),
        Tasks.Submit.name: .everybody(.fine),
        Tasks.List.name: .everybody(.fine),
        Tasks.History.name: .everybody(.fine),
        Tasks.Groups.name: .everybody(.fine),
        Tasks.PauseGroup.name: .operators(.noGroup),
        Tasks.ResumeGroup.name: .operators(.noGroup),
        // One's own anybody may.
        Tasks.PauseOwner.name: .operators(.fine),
        Tasks.ResumeOwner.name: .operators(.fine),
        Tasks.SetSlots.name: .operators(.fine),
        Applications.Register.name: .everybody(.fine),
        Applications.Launch.name: .application(.fine),
        Applications.Adopt.name: .application(.cannotContain),
        Applications.Activate.name: .application(.fine),
        Applications.Resign.name: .application(.wrongState),
        Applications.EnterBackground.name: .application(.wrongState),
        Applications.Terminate.name: .application(.fine),
        Applications.Unregister.name: .application(.fine),
        Applications.Show.name: .application(.fine),
        Applications.List.name: .everybody(.fine),
        Applications.Watch.name: .application(.fine),
        Applications.Delivered.name: .application(.invalid),
        Applications.Push.name: .application(.fine),
        Applications.SetBadge.name: .application(.fine),
        Applications.SetHandles.name: .application(.fine),
        Applications.SimulateMemoryPressure.name: .everybody(.fine),
        Applications.History.name: .everybody(.fine),
        Applications.Explain.name: .application(.fine),
        Manager.Describe.name: .everybody(.fine),
        Manager.Statistics.name: .everybody(.fine),
        Manager.Reload.name: .operators(.fine),
        SystemdService.Ping.name: .everybody(.fine),
        SystemdService.Reload.name: .operators(.fine),
        SystemdService.SetLogLevel.name: .operators(.fine),
        SystemdService.GetEnvironment.name: .operators(.fine),
        "org.varlink.service.GetInfo": .everybody(.fine),
        "org.varlink.service.GetInterfaceDescription": .everybody(.fine),
    ]

    private static func task(
        _ heldLive: Answer, _ runLive: Answer, _ heldEnded: Answer, _ runEnded: Answer
    ) -> Row {
        .task([
            .heldLive: heldLive, .runLive: runLive, .heldEnded: heldEnded, .runEnded: runEnded,
        ])
    }

    /// The parameters of a method beside `id` and `all`, where it does not go without.
    static func parameters(of method: String) -> [(key: String, value: JSONValue)] {
        switch method {
        case Tasks.Begin.name: [("name", .string("held"))]
        case Tasks.Submit.name:
            [
                (
                    "work",
                    .object([("name", .string("run")), ("command", .array([.string("true")]))])
                )
            ]
        case Tasks.Wait.name: [("timeoutMs", .integer(0))]
        case Tasks.Clean.name: [("ids", .array([]))]
        case Applications.Register.name:
            [("registration", .object([("id", .string("registered"))]))]
        // Process 1 is nobody's application.
        case Applications.Adopt.name: [("pids", .array([.integer(1)]))]
        // No message has this number.
        case Applications.Delivered.name: [("deliveryId", .integer(0))]
        case Applications.Push.name: [("kind", .string("alert")), ("action", .string("opened"))]
        case Applications.SetBadge.name: [("badge", .integer(1))]
        case Tasks.PauseGroup.name, Tasks.ResumeGroup.name: [("group", .string("g"))]
        case Tasks.PauseOwner.name, Tasks.ResumeOwner.name: [("owner", .integer(54_321))]
        case SystemdService.SetLogLevel.name: [("level", .integer(6))]
        case "org.varlink.service.GetInterfaceDescription":
            [("interface", .string("org.bgtaskd.Tasks"))]
        default: []
        }
    }

    /// Whether a method takes calls with `more` alone.
    static func streams(_ method: String) -> Bool {
        [Tasks.Watch.name, Tasks.Output.name, Applications.Watch.name].contains(method)
    }

    /// A call of a method, as text. The ids of applications are texts.
    static func call(_ method: String, id: Int? = nil, all: Bool? = nil) -> String {
        guard !method.hasPrefix(Applications.name + ".") else {
            return call(method, application: id.map(String.init), all: all)
        }
        return call(method, id: id.map(JSONValue.integer), all: all)
    }

    static func call(_ method: String, application id: String?, all: Bool? = nil) -> String {
        call(method, id: id.map(JSONValue.string), all: all)
    }

    private static func call(_ method: String, id: JSONValue?, all: Bool?) -> String {
        var members = parameters(of: method)
        if let id { members.append(("id", id)) }
        if let all { members.append(("all", .bool(all))) }
        return callText(
            method, .object(members), flags: streams(method) ? ",\"more\":true" : "")
    }

    /// All methods of all interfaces, with the names of what they take, as the daemon describes them.
    static func described(by client: VarlinkClient) throws -> [String: [String]] {
        var result: [String: [String]] = [:]
        let interfaces = try client.ask(ServiceInterface.GetInfo.self).interfaces
        for interface in interfaces {
            let text = try client.ask(ServiceInterface.GetInterfaceDescription.self) {
                $0.interface = interface
            }.description
            let description = try InterfaceDescription(parsing: text)
            for method in description.methods {
                guard case .structure(let fields) = method.input else { continue }
                result["\(interface).\(method.name)"] = fields.map(\.name)
            }
        }
        return result
    }
}
