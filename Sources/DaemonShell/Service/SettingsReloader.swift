internal import BudgetCore
internal import LinuxSystem
internal import Logging
package import Settings
package import Systemd
internal import TaskAPI
internal import TaskStore

/// Reads the settings again, and has all parts go by them.
struct SettingsReloader {
    let core: Core
    let configuration: Configuration
    let settings: CurrentSettings
    let accounts: AccountSource
    let executor: ExecutorLink
    let store: Persistence
    let status: ServiceStatus
    let journal: AuditTrail
    let log: Logger

    /// Reads the settings again; what is refused leaves all of them as they were.
    ///
    /// - Throws: `BadSettings`, with the first that is wrong; all are logged.
    func reload(orderedBy owner: OwnerID? = nil) throws(CallFailure) -> SettingsDifference {
        status.reloading()
        defer { status.reloaded() }
        do throws(SettingsErrors) {
            let difference = settings.replace(
                with: try SettingsLoader(location: configuration.settingsLocation).load())
            status.settingsAccepted()
            apply(difference)
            var fields: [JournalField: String] = [
                .changed: "\(difference.changed.joined(separator: " "))",
                .needRestart: "\(difference.needRestart.joined(separator: " "))",
            ]
            if let owner { fields[.operator] = "\(owner)" }
            log.say(.settingsRead, fields, detail: Self.words(for: difference))
            return difference
        } catch {
            status.settingsRefused(error)
            var answer = Manager.BadSettings()
            answer.file = error.first.file
            answer.line = error.first.line
            answer.column = error.first.column
            answer.text = error.first.text
            for found in error.all { log.say(.settingsRefused, [.reason: "\(found)"]) }
            throw .badSettings(answer)
        }
    }

    /// What a reload has changed, for people.
    static func words(for difference: SettingsDifference) -> String {
        let parts = [
            (difference.changed, "changed"), (difference.needRestart, "in force after a restart"),
        ].filter { !$0.0.isEmpty }.map { "\($0.joined(separator: ", ")) \($1)" }
        return parts.isEmpty ? "nothing changed" : parts.joined(separator: "; ")
    }

    private func apply(_ difference: SettingsDifference) {
        let new = settings.settings
        core.update { registry, now, actions in
            registry.replaceLimits(RegistryLimits(new, configuration))
            registry.replaceApplicationRules(ApplicationRules(new), at: now)
            registry.replaceProfiles(new.profileList.compactMap(Profile.init))
        }
        if difference.changed.contains("daemon.logLevel") {
            journal.writer.level = JournalLevel(new.daemon.logLevel)
        }
        core.update { registry, now, actions in registry.limitsChanged(at: now, &actions) }
        executor.setBounds(ExecutorLink.Bounds(new))
        accounts.readIfChanged()
        store.keep(HistoryBounds(new, accounts.accounts))
        journal.limit(entriesPerSecond: new.limits.auditRatePerOwnerMax)
    }

    /// Who counts as whom was read anew: what is open stays as it was counted.
    func takeAccounts() {
        guard accounts.take() else { return }
        applyAccounts()
        store.keep(HistoryBounds(settings.settings, accounts.accounts))
    }

    /// Has all parts that count by account know who counts as whom.
    func applyAccounts() {
        core.update { registry, _, _ in registry.replaceAccounts(accounts.accounts) }
        journal.replaceAccounts(accounts.accounts)
    }
}

extension ExecutorLink.Bounds {
    package init(_ settings: Settings) {
        self.init(
            processesMax: settings.limits.processesPerTaskMax,
            absenceMax: UInt64(clamping: settings.daemon.absenceMax.wholeNanoseconds))
    }
}

extension Profile {
    /// - Returns: `nil` for a budget out of range, which settings refuse before.
    init?(_ profile: Settings.Profile) {
        guard profile.enabled else { return nil }
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
        leavesOneSlot = true
    }

    package init(_ settings: Settings) {
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
    package init(_ level: Settings.LogLevel) {
        self = JournalLevel(rawValue: UInt8(clamping: level.priority)) ?? .info
    }
}
