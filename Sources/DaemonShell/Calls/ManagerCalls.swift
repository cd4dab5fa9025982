internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Settings
internal import Systemd
internal import TaskAPI
internal import Varlink

/// Calls about the daemon itself.
struct ManagerCalls {
    let core: Core
    let configuration: Configuration
    let containment: Containment
    let executor: ExecutorSync
    let settings: CurrentSettings
    let reloader: SettingsReloader
    let statistics: Statistics
    let journal: AuditTrail
    let log: Logger

    func describe(_ client: Client, _ call: Call) throws(CallFailure) {
        _ = try call.read(Manager.Describe.Input.self)
        var output = Manager.Describe.Output()
        output.version = Version.current
        output.scope = configuration.scope.rawValue
        output.containment = "\(containment)"
        output.executor = executor.description
        output.clockMs = Int(core.now.nanoseconds / 1_000_000)
        output.profiles = core.registry.profiles.values.sorted { $0.name < $1.name }
            .map(Manager.Profile.init)
        output.limits = settings.settings.limitList.map { name, value in
            var limit = Manager.Limit()
            limit.name = name
            limit.value = value
            return limit
        }
        output.settings = settings.loaded.described().map { described in
            var setting = Manager.Setting()
            setting.key = described.key
            setting.value = described.value
            setting.source = "\(described.source)"
            if let slots = core.registry.slotOrders[setting: described.key] {
                setting.value = "\(slots)"
                setting.source = "bgtaskctl slots"
            }
            return setting
        }
        client.reply(output)
    }

    func statistics(_ client: Client, _ call: Call) throws(CallFailure) {
        _ = try call.read(Manager.Statistics.Input.self)
        var output = Manager.Statistics.Output()
        if client.isOperator {
            let all = statistics.all()
            (output.counters, output.histograms) = (all.counters, all.histograms)
            output.gauges = statistics.gauges()
        } else {
            output.counters = statistics.own(client.caller.owner)
        }
        client.reply(output)
    }

    func reload(_ client: Client, _ call: Call) throws(CallFailure) {
        _ = try call.read(Manager.Reload.Input.self)
        try client.requireOperator()
        let difference = try reloader.reload(orderedBy: client.caller.owner)
        var output = Manager.Reload.Output()
        output.changed = difference.changed
        output.needRestart = difference.needRestart
        client.reply(output)
    }

    func ping(_ client: Client, _ call: Call) throws(CallFailure) {
        _ = try call.read(SystemdService.Ping.Input.self)
        client.reply(Empty())
    }

    func reloadService(_ client: Client, _ call: Call) throws(CallFailure) {
        _ = try call.read(SystemdService.Reload.Input.self)
        try client.requireOperator()
        _ = try reloader.reload(orderedBy: client.caller.owner)
        client.reply(Empty())
    }

    func setLogLevel(_ client: Client, _ call: Call) throws(CallFailure) {
        let number = try call.read(SystemdService.SetLogLevel.Input.self).level
        try client.requireOperator()
        guard let value = UInt8(exactly: number), let level = JournalLevel(rawValue: value) else {
            throw .invalid("level")
        }
        journal.writer.level = level
        log.say(.logLevelSet, [.level: level.word, .operator: "\(client.caller.owner)"])
        client.reply(Empty())
    }

    func environment(_ client: Client, _ call: Call) throws(CallFailure) {
        _ = try call.read(SystemdService.GetEnvironment.Input.self)
        try client.requireOperator()
        var output = SystemdService.GetEnvironment.Output()
        output.environment = configuration.environment.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }
        client.reply(output)
    }
}

extension SlotOrders {
    /// What was ordered in the place of a setting.
    fileprivate subscript(setting key: String) -> Int? {
        if key == "queue.slots" { return self[nil] }
        let (prefix, suffix) = ("queue.groups.", ".slots")
        guard key.hasPrefix(prefix), key.hasSuffix(suffix) else { return nil }
        return self[String(key.dropFirst(prefix.count).dropLast(suffix.count))]
    }
}

extension Manager.Profile {
    init(_ profile: Profile) {
        self.init()
        name = profile.name
        durationMs = profile.budget?.duration.wholeMilliseconds
        graceMs = profile.grace.wholeMilliseconds
        lifetimeMaxMs = profile.lifetimeMax?.wholeMilliseconds
    }
}
