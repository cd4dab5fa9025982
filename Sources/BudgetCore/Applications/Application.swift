/// Where an application is in its lifecycle (rules 14 to 22 in docs/architecture.md).
package enum ApplicationState: UInt8, Sendable, CaseIterable {
    case notRunning
    /// In front and without events, as under a system sheet.
    case inactive
    /// In front.
    case active
    case background
    /// Frozen: the kernel has confirmed it.
    case suspended

    /// Whether its background time stands still.
    package var isInFront: Bool { self == .active || self == .inactive }
}

/// What an application can be told; the names are UIKit's.
package enum Callback: UInt8, Sendable, CaseIterable {
    case didFinishLaunching
    case didBecomeActive
    case willResignActive
    case didEnterBackground
    case willEnterForeground
    case willTerminate
    case backgroundTimeExpiring
    case didReceiveRemoteNotification
    /// The form of it that says when it is done.
    case didReceiveRemoteNotificationFetch
    case willPresentNotification
    case didReceiveNotificationResponse
    case badgeChanged
    /// It is to do a task that was submitted for it.
    case performTask
    /// The time of a task that it does is nearly over.
    case taskExpiring
    /// Memory is short: it is asked to let go of what it can do without.
    case didReceiveMemoryWarning
}

/// The callbacks that an application implements.
package struct Callbacks: OptionSet, Hashable, Sendable {
    package let rawValue: UInt16

    package static let all = Callbacks(Callback.allCases)

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package init(_ callbacks: [Callback]) {
        rawValue = callbacks.reduce(0) { $0 | 1 << UInt16($1.rawValue) }
    }

    package func contains(_ callback: Callback) -> Bool {
        rawValue & 1 << UInt16(callback.rawValue) != 0
    }

    /// In the order of their declaration.
    package var list: [Callback] { Callback.allCases.filter(contains) }
}

/// What is known of an application before it runs.
package struct Registration: Equatable, Sendable {
    /// What starts it; `nil`: it can only be adopted.
    package var command: [String]?
    package var directory: String?
    package var environment: [String: String] = [:]
    /// Whether it is terminated where others are suspended.
    package var exitsOnSuspend = false
    /// Whether it works in the background without a limit, as a player does: it is not suspended.
    package var hasBackgroundMode = false
    /// The profile whose numbers are its background time; `nil`: those of the settings.
    package var profile: String?
    /// `nil`: every callback.
    package var handles: Callbacks?
    package var submitter = Submitter()

    package init(command: [String]? = nil) {
        self.command = command
    }

    func handles(_ callback: Callback) -> Bool {
        handles?.contains(callback) ?? true
    }

    /// The form of didReceiveRemoteNotification that is called: of both only the one with a completion.
    var remoteNotification: Callback? {
        [.didReceiveRemoteNotificationFetch, .didReceiveRemoteNotification].first(where: handles)
    }

    /// Bytes that it takes, as the kernel would count them for execve(2).
    var byteCount: Int {
        let texts = (command ?? []) + environment.flatMap { [$0.key, $0.value] }
        return texts.reduce((directory ?? "").utf8.count) { $0 + $1.utf8.count + 1 }
    }
}

/// Why an application runs no longer.
package enum TerminationReason: UInt8, Sendable, CaseIterable {
    case exited
    /// A signal ended it that was not ours.
    case crashed
    /// By order.
    case terminated
    case memoryPressure
    case backgroundTimeOverrun
    /// A silent message was not answered in its time.
    case messageOverrun
    /// A task that it was woken for was not done in its time.
    case taskOverrun
    case exitsOnSuspend
    /// The daemon or the machine stopped under it.
    case interrupted
}

extension TerminationReason {
    /// The reason in words, as they follow "because".
    package var text: String {
        switch self {
        case .exited: "its main process ended"
        case .crashed: "a signal ended its main process"
        case .terminated: "it was terminated by order"
        case .memoryPressure: "memory was short"
        case .backgroundTimeOverrun: "it still held tasks when its background time was over"
        case .messageOverrun: "it did not report in time that it had finished with a message"
        case .taskOverrun: "it was not done in time with a task that it was woken for"
        case .exitsOnSuspend: "it exits when another would be suspended"
        case .interrupted: "the daemon or the machine stopped"
        }
    }
}

/// A task that an application held when it was ended.
package struct HeldTask: Equatable, Sendable {
    package var id: TaskID
    package var name: String
    package var age: Duration
    /// `nil`: no limit.
    package var duration: Duration?
    package var grace: Duration?

    package init(
        id: TaskID, name: String, age: Duration, duration: Duration?, grace: Duration?
    ) {
        self.id = id
        self.name = name
        self.age = age
        self.duration = duration
        self.grace = grace
    }

    init(_ task: BackgroundTask, at now: Instant) {
        self.init(
            id: task.id, name: task.name, age: task.age(at: now),
            duration: task.budget?.duration, grace: task.budget?.grace)
    }
}

/// The record of how the last run of an application ended, for its next launch to read.
package struct Termination: Equatable, Sendable {
    package var reason: TerminationReason
    /// Of its main process; `nil` where that is not known, as of adopted ones.
    package var exit: ProcessExit?
    package var held: [HeldTask] = []
    /// How long it had been in the background; `nil` where it was in front.
    package var background: Duration?
    package var endedAt: BootInstant

    /// Of more tasks than so many only the oldest are named.
    static let heldMax = 128

    package init(
        reason: TerminationReason, exit: ProcessExit? = nil, held: [HeldTask] = [],
        background: Duration? = nil, endedAt: BootInstant
    ) {
        self.reason = reason
        self.exit = exit
        self.held = held
        self.background = background
        self.endedAt = endedAt
    }
}

/// What of an application must be on disk.
package struct ApplicationRecord: Equatable, Sendable {
    package var registration: Registration
    package var badge = 0
    package var lastTermination: Termination?
    /// Whether it runs: a daemon that finds this in the record of another was interrupted.
    package var isRunning = false
    /// By which the program that runs its command knows its run; `nil` where it has none, or was adopted.
    package var run: UInt64?
    /// The service manager's units that it lives in, where it was adopted: a daemon after this one thaws them.
    package var units: [AdoptedUnit] = []

    package init(registration: Registration) {
        self.registration = registration
    }
}

/// A unit of a service manager that an adopted application lives in.
package struct AdoptedUnit: Hashable, Sendable {
    package var name: String
    /// Whose manager it is; `nil`: the system's.
    package var user: UInt32?

    package init(name: String, user: UInt32?) {
        self.name = name
        self.user = user
    }
}

/// The numbers of the application rules; the names are those of the settings.
package struct ApplicationRules: Equatable, Sendable {
    package var suspendAfter: Duration = .seconds(5)
    package var backgroundTime: Duration = .seconds(180)
    /// Handlers fire this long before `backgroundTime` is over.
    package var grace: Duration = .seconds(5)
    /// Whether one application of an owner is in front at a time.
    package var isForegroundSingle = true
    /// Whether applications are frozen and killed; where not, it is only told what would be.
    package var enforces = true
    /// How long a message keeps a suspended application awake.
    package var messageTime: Duration = .seconds(30)
    /// Silent messages in an hour that may wake an application.
    package var messagesPerHourMax = 3
    /// Silent messages of an application that wait for their hour.
    package var messagesDeferredMax = 16
    package var payloadBytesMax = 4096
    package var applicationsPerOwnerMax = 4096
    package var registrationBytesMax = 65_536
    /// The same of all applications of one owner.
    package var registrationBytesPerOwnerMax = 16_777_216

    package init() {}
}
