internal import BudgetCore
internal import LinuxSystem
internal import Settings
internal import Systemd
internal import TaskAPI
internal import TaskStore
internal import Varlink

// Calls about the daemon itself.
extension Daemon {
    func describe(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        _ = try decode(call, as: Manager.Describe.Input.self)
        var output = Manager.Describe.Output()
        output.version = Version.current
        output.scope = configuration.scope.rawValue
        output.containment = "\(host.containment)"
        output.clockMs = Int(now.nanoseconds / 1_000_000)
        output.profiles = registry.profiles.values.sorted { $0.name < $1.name }
            .map(Manager.Profile.init)
        output.limits = loaded.settings.limitList.map { name, value in
            var limit = Manager.Limit()
            limit.name = name
            limit.value = value
            return limit
        }
        output.settings = loaded.described().map { described in
            var setting = Manager.Setting()
            setting.key = described.key
            setting.value = described.value
            setting.source = "\(described.source)"
            return setting
        }
        client.reply(output)
    }

    func statistics(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        _ = try decode(call, as: Manager.Statistics.Input.self)
        var output = Manager.Statistics.Output()
        output.counters =
            client.isOperator
            ? statistics.counters(of: self) : statistics.counters(of: self, client.caller.owner)
        client.reply(output)
    }

    func reload(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        _ = try decode(call, as: Manager.Reload.Input.self)
        try requireOperator(client)
        let difference = try reloadSettings(orderedBy: client.caller.owner)
        var output = Manager.Reload.Output()
        output.changed = difference.changed
        output.needRestart = difference.needRestart
        client.reply(output)
    }

    func ping(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        _ = try decode(call, as: SystemdService.Ping.Input.self)
        client.reply(Empty())
    }

    func reloadService(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        _ = try decode(call, as: SystemdService.Reload.Input.self)
        try requireOperator(client)
        _ = try reloadSettings(orderedBy: client.caller.owner)
        client.reply(Empty())
    }

    func setLogLevel(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let number = try decode(call, as: SystemdService.SetLogLevel.Input.self).level
        try requireOperator(client)
        guard let value = UInt8(exactly: number), let level = JournalLevel(rawValue: value) else {
            throw .invalid("level")
        }
        journal.writer.level = level
        log.say(
            .logLevelSet,
            [.level: level.word, .operator: "\(client.caller.owner)"])
        client.reply(Empty())
    }

    func environment(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        _ = try decode(call, as: SystemdService.GetEnvironment.Input.self)
        try requireOperator(client)
        var output = SystemdService.GetEnvironment.Output()
        output.environment = configuration.environment.sorted { $0.key < $1.key }
            .map { "\($0.key)=\($0.value)" }
        client.reply(output)
    }

    /// Reads the settings again; what is refused leaves all of them as they were.
    func reloadSettings(orderedBy owner: OwnerID? = nil) throws(CallFailure) -> SettingsDifference {
        tellReloading()
        defer { tellReloaded() }
        do throws(SettingsErrors) {
            let new = try SettingsLoader(location: configuration.settingsLocation).load()
            let difference = loaded.reload(new)
            settingsRefusal = nil
            registry.limits = RegistryLimits(loaded.settings, configuration)
            registry.replaceApplicationRules(ApplicationRules(loaded.settings), at: now)
            registry.replaceProfiles(loaded.settings.profileList.compactMap(Profile.init))
            if difference.changed.contains("daemon.logLevel") {
                journal.writer.level = JournalLevel(loaded.settings.daemon.logLevel)
            }
            registry.limitsChanged(at: now, &actions)
            host.containment.tree?.processesPerTaskMax = loaded.settings.limits.processesPerTaskMax
            accountSource.readIfChanged()
            storeThread.keep(HistoryBounds(loaded.settings, accountSource.accounts))
            journal.allowance.perSecondMax = loaded.settings.limits.auditRatePerOwnerMax
            var fields: [JournalField: String] = [
                .changed: "\(difference.changed.joined(separator: " "))",
                .needRestart: "\(difference.needRestart.joined(separator: " "))",
            ]
            if let owner { fields[.operator] = "\(owner)" }
            log.say(.settingsRead, fields)
            return difference
        } catch {
            settingsRefusal = error
            var answer = Manager.BadSettings()
            answer.file = error.first.file
            answer.line = error.first.line
            answer.column = error.first.column
            answer.text = error.first.text
            for found in error.all {
                log.say(.settingsRefused, [.reason: "\(found)"])
            }
            throw .badSettings(answer)
        }
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

extension Profile {
    /// - Returns: `nil` for a budget out of range, which settings refuse before.
    init?(_ profile: Settings.Profile) {
        guard let duration = profile.duration else {
            self.init(unlimited: profile.name, grace: profile.grace)
            return
        }
        guard let budget = Budget(duration: duration, grace: profile.grace) else { return nil }
        self.init(name: profile.name, budget: budget, lifetimeMax: profile.lifetimeMax)
    }
}

extension RegistryLimits {
    init(_ settings: Settings, _ configuration: Configuration) {
        self.init(settings)
        if let time = configuration.stuckAfter { stuckAfter = time }
        guard configuration.servesEverybody else {
            // Nobody else is held up in a daemon that serves its own user alone.
            mayRunUnlimited = [OwnerID(rawValue: configuration.user)]
            return
        }
        mayRunUnlimited = Set(configuration.access.unlimitedUsers.map { OwnerID(rawValue: $0) })
        // Root's commands are the machine's own, and root can raise the number: by itself it bounds users alone.
        if slotsPerOwnerMax == nil { slotsPerOwnerMax = max(slots - 1, 1) }
    }

    init(_ settings: Settings) {
        self.init()
        tasksPerOwnerMax = settings.limits.tasksPerOwnerMax
        queueDepthMax = settings.limits.queueDepthMax
        queueDepthPerOwnerMax = settings.limits.queueDepthPerOwnerMax
        endedHeldMax = settings.limits.endedHeldMax
        // More are on disk.
        endedRunMax = min(settings.store.historyMax, 10_000)
        slots = settings.queue.slots
        let share = settings.queue.slotsPerOwnerMax
        if share > 0 { (slotsPerOwnerMax, slotsOfRootMax) = (share, share) }
        groupSlots = settings.queue.groups.mapValues(\.slots)
        warnAfter = settings.budget.warnAfter ?? .nanoseconds(Int64.max)
    }
}

extension ApplicationRules {
    init(_ settings: Settings) {
        self.init()
        suspendAfter = settings.applications.suspendAfter
        backgroundTime = settings.applications.backgroundTime
        grace = settings.applications.grace
        isForegroundSingle = settings.applications.foreground == .single
        enforces = settings.applications.enforce
        messageTime = settings.applications.messageTime
        messagesPerHourMax = settings.applications.messagesPerHourMax
        applicationsPerOwnerMax = settings.limits.applicationsPerOwnerMax
    }
}

extension JournalLevel {
    init(_ level: Settings.LogLevel) {
        self = JournalLevel(rawValue: UInt8(clamping: level.priority)) ?? .info
    }
}
