/// The table of settings, in the order in which they are described.
///
/// Parsing, `Describe`, the difference that `Reload` answers and the check of
/// `config/bgtaskd.toml` all follow from it. Beside these there are the keys of each profile and of
/// each group of the queue.
extension Settings {
    package static let keys: [SettingKey<Settings>] =
        budgetKeys + limitKeys + queueKeys + applicationKeys + storeKeys + daemonKeys + accessKeys

    private static let budgetKeys: [SettingKey<Settings>] = [
        .time(
            "budget.warnAfter",
            \.budget.warnAfter,
            .milliseconds(10) ... .days(365),
            infinity: true,
            "A task older than this is named in the log once."
        )
    ]

    private static let limitKeys: [SettingKey<Settings>] = [
        .integer(
            "limits.tasksPerOwnerMax",
            \.limits.tasksPerOwnerMax,
            1...10_000_000,
            "Live tasks that one user may have at once; queued ones are not live."
        ),
        .integer(
            "limits.clientsMax",
            \.limits.clientsMax,
            1...1_000_000,
            "Connections of all clients together."
        ),
        .integer(
            "limits.clientsPerOwnerMax",
            \.limits.clientsPerOwnerMax,
            1...1_000_000,
            "Connections of one user's clients."
        ),
        .integer(
            "limits.frameBytesMax",
            \.limits.frameBytesMax,
            1024...16_777_216,
            "Bytes of one message from a client; a longer one closes the connection.",
            .byRestart
        ),
        .integer(
            "limits.queueDepthMax",
            \.limits.queueDepthMax,
            1...10_000_000,
            "Tasks in the queue, of all users together."
        ),
        .integer(
            "limits.queueDepthPerOwnerMax",
            \.limits.queueDepthPerOwnerMax,
            1...10_000_000,
            "Tasks in the queue, of one user."
        ),
        .integer(
            "limits.bufferBytesPerOwnerMax",
            \.limits.bufferBytesPerOwnerMax,
            65_536...17_179_869_184,
            "Bytes buffered for all connections of one user together."
        ),
        .integer(
            "limits.endedHeldMax",
            \.limits.endedHeldMax,
            0...10_000_000,
            "Ended held tasks whose outcome can still be asked for; the oldest go first."
        ),
        .integer(
            "limits.outputBytesMax",
            \.limits.outputBytesMax,
            0...1_073_741_824,
            "Bytes kept of what one task printed, the newest."
        ),
        .integer(
            "limits.outputTotalBytesMax",
            \.limits.outputTotalBytesMax,
            0...68_719_476_736,
            "Bytes of output kept for all ended tasks together; the user with most loses the oldest."
        ),
        .integer(
            "limits.outputRatePerOwnerMax",
            \.limits.outputRatePerOwnerMax,
            65_536...17_179_869_184,
            "Bytes a second that all tasks of one user may print; more waits in their pipes."
        ),
        .integer(
            "limits.logRatePerOwnerMax",
            \.limits.logRatePerOwnerMax,
            1...10_000_000,
            "Lines a second of all tasks of one user in the log; the rest is counted."
        ),
        .integer(
            "limits.auditRatePerOwnerMax",
            \.limits.auditRatePerOwnerMax,
            1...10_000_000,
            "Entries a second about one user's tasks in the log; the rest is counted."
        ),
        .integer(
            "limits.applicationsPerOwnerMax",
            \.limits.applicationsPerOwnerMax,
            1...100_000,
            "Applications that one user may have registered, running or not."
        ),
        .integer(
            "limits.processesPerTaskMax",
            \.limits.processesPerTaskMax,
            16...4_194_304,
            "Processes and threads of one task or application, if control groups count them."
        ),
    ]

    private static let queueKeys: [SettingKey<Settings>] = [
        .integer(
            "queue.slots",
            \.queue.slots,
            1...10_000,
            "The most commands that run at once, those in groups included."
        ),
        .integer(
            "queue.slotsPerOwnerMax",
            \.queue.slotsPerOwnerMax,
            0...10_000,
            "Commands of one user that run at once; 0: all slots but one, and all for root."
        ),
    ]

    private static let applicationKeys: [SettingKey<Settings>] = [
        .time(
            "applications.suspendAfter",
            \.applications.suspendAfter,
            .zero ... .days(1),
            "An application that enters the background with no task is frozen after this time."
        ),
        .time(
            "applications.backgroundTime",
            \.applications.backgroundTime,
            .milliseconds(10) ... .days(365),
            "What an application may use in the background, shared by all its tasks."
        ),
        .time(
            "applications.grace",
            \.applications.grace,
            .milliseconds(1) ... .days(365),
            "Its tasks are warned this long before backgroundTime is over; it must be shorter."
        ),
        .choice(
            "applications.foreground",
            \.applications.foreground,
            "How many applications of one user may be in the foreground at once."
        ),
        .flag(
            "applications.enforce",
            \.applications.enforce,
            "Whether applications are frozen and killed; false: only log what would be."
        ),
        .time(
            "applications.messageTime",
            \.applications.messageTime,
            .seconds(1) ... .seconds(3600),
            "How long a silent message keeps a suspended application awake at most."
        ),
        .integer(
            "applications.messagesPerHourMax",
            \.applications.messagesPerHourMax,
            0...3600,
            "Silent messages in an hour that may wake an application; more wait."
        ),
    ]

    private static let storeKeys: [SettingKey<Settings>] = [
        .integer(
            "store.historyMax",
            \.store.historyMax,
            0...1_000_000_000,
            "Ended tasks kept in the history, and past states of applications; who has most loses the oldest."
        ),
        .integer(
            "store.historyBytesMax",
            \.store.historyBytesMax,
            1_048_576...1_099_511_627_776,
            "What ended tasks and last successes use on the disk, in bytes, at most a quarter of it; who has most loses the oldest."
        ),
        .integer(
            "store.outputBytesMax",
            \.store.outputBytesMax,
            0...1_099_511_627_776,
            "What the output of ended tasks takes on the disk, in bytes, at most a quarter of it; who has most loses the oldest."
        ),
        .time(
            "store.historyAge",
            \.store.historyAge,
            .seconds(1) ... .days(36500),
            infinity: true,
            "How long an ended task, or a past state of an application, stays in the history."
        ),
        .choice(
            "store.durability",
            \.store.durability,
            "Whether a submission is on the disk before it is answered, or in memory alone.",
            .byRestart
        ),
    ]

    private static let daemonKeys: [SettingKey<Settings>] = [
        .choice(
            "daemon.containment",
            \.daemon.containment,
            "How a task's processes are kept together; auto uses cgroups if it can.",
            .byRestart
        ),
        .time(
            "daemon.absenceMax",
            \.daemon.absenceMax,
            .seconds(1) ... .days(1),
            "How long commands go on while no daemon runs; then they are warned, and end."
        ),
        .choice(
            "daemon.logLevel",
            \.daemon.logLevel,
            "The least urgent entries that are logged."
        ),
    ]

    private static let accessKeys: [SettingKey<Settings>] = [
        .group(
            "access.operators",
            \.access.operators,
            "A group whose members see and order the tasks of all users, as root does.",
            .byRestart
        ),
        .group(
            "access.users",
            \.access.users,
            "A group whose members may use the daemon, beside root and the operators; with none everybody may.",
            .byRestart
        ),
        .users(
            "access.confinedUsers",
            \.access.confinedUsers,
            "Users whose confined processes may have commands run outside of what confines them.",
            .byRestart
        ),
        .users(
            "access.unlimitedUsers",
            \.access.unlimitedUsers,
            "Users who may have tasks and background modes without a limit, as root may.",
            .byRestart
        ),
    ]
}

extension Settings.Profile {
    /// The keys of each profile.
    package static let keys: [SettingKey<Settings.Profile>] = [
        .time(
            "duration",
            \.duration,
            .milliseconds(10) ... .days(365),
            infinity: false,
            "The hard limit: what still runs then is stopped."
        ),
        .time(
            "grace",
            \.grace,
            .milliseconds(1) ... .days(365),
            "A task is warned this long before the hard limit (a command gets SIGTERM); it must be shorter."
        ),
        .time(
            "lifetimeMax",
            \.lifetimeMax,
            .milliseconds(10) ... .days(365),
            infinity: false,
            "How far extensions may reach, counted from the start; not below the duration."
        ),
        .flag(
            "enabled",
            \.enabled,
            "Whether tasks can choose the profile; the default one always can be."
        ),
    ]
}

extension Settings.Group {
    /// The keys of each group.
    package static let keys: [SettingKey<Settings.Group>] = [
        .integer(
            "slots",
            \.slots,
            1...10_000,
            "Commands of the group that run at once; each uses a slot of the daemon too."
        )
    ]
}

extension Duration {
    fileprivate static func days(_ count: Int) -> Duration { .seconds(count * 86400) }
}
