package import Varlink

/// Applications and their lifecycle: in front, in the background, suspended, and the callbacks that they get.
package enum Applications {
    package static let name = "org.bgtaskd.Applications"

    /// The members of `State`.
    package enum State: String, WireEnum {
        case notRunning, inactive, active, background, suspended
    }

    /// The members of `Callback`.
    package enum Callback: String, WireEnum {
        case didFinishLaunching, didBecomeActive, willResignActive, didEnterBackground,
            willEnterForeground, willTerminate, backgroundTimeExpiring,
            didReceiveRemoteNotification, didReceiveRemoteNotificationFetch,
            willPresentNotification, didReceiveNotificationResponse, badgeChanged,
            performTask, taskExpiring, didReceiveMemoryWarning
    }

    /// Why an application is no longer running.
    package enum TerminationReason: String, WireEnum {
        case exited, crashed, terminated, memoryPressure, backgroundTimeOverrun,
            messageOverrun, taskOverrun, exitsOnSuspend, interrupted
    }

    /// One `HeldTask`.
    package struct HeldTask: Message {
        package var id = 0
        package var name = ""
        package var ageMs = 0
        package var durationMs: Int?
        package var graceMs: Int?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
            try fields.field("name", &name)
            try fields.field("ageMs", &ageMs)
            try fields.field("durationMs", &durationMs)
            try fields.field("graceMs", &graceMs)
        }
    }

    /// The record of how the last run ended, for the next launch to read. status and signal are of its main
    /// process; signal is a name such as SIGSEGV. agoMs: how long ago that was, the machine's sleep included.
    package struct Termination: Message {
        package var reason = TerminationReason.exited
        package var status: Int?
        package var signal: String?
        package var held: [HeldTask] = []
        package var backgroundMs: Int?
        package var agoMs = 0

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("reason", &reason)
            try fields.field("status", &status)
            try fields.field("signal", &signal)
            try fields.field("held", &held)
            try fields.field("backgroundMs", &backgroundMs)
            try fields.field("agoMs", &agoMs)
        }
    }

    /// handles: the callbacks that the application implements; it gets no others. Absent: all.
    /// profile: the budget profile whose numbers are this application's background time.
    /// command: absent if the application is only adopted. It runs as the caller, in the directory (the caller's home
    /// if absent), and finds its id in $BGTASK_APPLICATION.
    /// backgroundMode: it is never suspended, and has no limit in the background; for root, and for the users that
    /// the settings name.
    package struct Registration: Message {
        package var id = ""
        package var command: [String]?
        package var directory: String?
        package var environment: [String: String]?
        package var exitsOnSuspend: Bool?
        package var backgroundMode: Bool?
        package var profile: String?
        package var handles: [Callback]?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
            try fields.field("command", &command, atMost: .arguments)
            try fields.field("directory", &directory)
            try fields.field("environment", &environment, atMost: .environment)
            try fields.field("exitsOnSuspend", &exitsOnSuspend)
            try fields.field("backgroundMode", &backgroundMode)
            try fields.field("profile", &profile)
            try fields.field("handles", &handles, atMost: .members)
        }
    }

    /// How an application is frozen. cgroup: a control group of its own. unit: the service manager's unit that it
    /// lives in. signals: SIGSTOP to each of its processes, if there are no control groups.
    package enum Freezer: String, WireEnum {
        case cgroup, unit, signals
    }

    /// remainingMs: background time left; `nil` if none is being spent. backgroundMs: how long it has been in
    /// the background, the machine's sleep included. frozen: what the kernel says now. tasks: live ones.
    /// freezer and units: while it runs; units: those that an adopted application lives in.
    /// command, profile and handles: as they were registered; a long command is cut. Absent in List.
    package struct Application: Message {
        package var id = ""
        package var owner = 0
        package var state = State.notRunning
        package var pids: [Int] = []
        package var frozen = false
        package var remainingMs: Int?
        package var backgroundMs: Int?
        package var badge = 0
        package var tasks = 0
        package var freezer: Freezer?
        package var units: [String]?
        package var lastTermination: Termination?
        package var command: [String]?
        package var profile: String?
        package var handles: [Callback]?

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
            try fields.field("owner", &owner)
            try fields.field("state", &state)
            try fields.field("pids", &pids)
            try fields.field("frozen", &frozen)
            try fields.field("remainingMs", &remainingMs)
            try fields.field("backgroundMs", &backgroundMs)
            try fields.field("badge", &badge)
            try fields.field("tasks", &tasks)
            try fields.field("freezer", &freezer)
            try fields.field("units", &units)
            try fields.field("lastTermination", &lastTermination)
            try fields.field("command", &command)
            try fields.field("profile", &profile)
            try fields.field("handles", &handles)
        }
    }

    /// What a method is asked that is about one application.
    package struct Reference: Message {
        package var id = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("id", &id)
        }
    }

    /// What a method answers that is about one application: how it is after it.
    package struct Answer: Message {
        package var application = Application()

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("application", &application)
        }
    }
}
