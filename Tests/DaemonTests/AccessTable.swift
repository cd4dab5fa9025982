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
    static let unbuilt = error("MethodNotImplemented")

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
        /// The daemon's own affairs; what it answers to an operator.
        case operators(Answer)
        /// For everybody, each about what is their own.
        case everybody(Answer)
    }

    static let rows: [String: Row] = [
        Tasks.End.name: task(.fine, .notAccepting, .fine, .fine),
        Tasks.Extend.name: task(.fine, .fine, .ended, .ended),
        Tasks.Cancel.name: task(.fine, .fine, .ended, .ended),
        Tasks.RemainingTime.name: task(.fine, .fine, .ended, .ended),
        Tasks.Show.name: task(.fine, .fine, .fine, .fine),
        Tasks.Watch.name: task(.fine, .fine, .fine, .fine),
        Tasks.Output.name: task(.invalid, .fine, .invalid, .fine),
        Tasks.Wait.name: task(.fine, .fine, .fine, .fine),
        Tasks.Explain.name: task(.fine, .fine, .fine, .fine),
        Tasks.SimulateExpiration.name: task(.fine, .fine, .ended, .ended),
        Tasks.Begin.name: .everybody(.fine),
        Tasks.Submit.name: .everybody(.fine),
        Tasks.List.name: .everybody(.fine),
        Tasks.History.name: .everybody(.fine),
        Tasks.PauseGroup.name: .everybody(.unbuilt),
        Tasks.ResumeGroup.name: .everybody(.unbuilt),
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
        case Tasks.PauseGroup.name, Tasks.ResumeGroup.name: [("group", .string("g"))]
        case SystemdService.SetLogLevel.name: [("level", .integer(6))]
        case "org.varlink.service.GetInterfaceDescription":
            [("interface", .string("org.bgtaskd.Tasks"))]
        default: []
        }
    }

    /// Whether a method takes calls with `more` alone.
    static func streams(_ method: String) -> Bool {
        [Tasks.Watch.name, Tasks.Output.name].contains(method)
    }

    /// A call of a method, as text.
    static func call(_ method: String, id: Int? = nil, all: Bool? = nil) -> String {
        var members = parameters(of: method)
        if let id { members.append(("id", .integer(id))) }
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
