internal import BudgetCore
internal import JSON
internal import LinuxSystem
internal import TaskAPI
internal import TaskStore
internal import Varlink

extension Applications.Application {
    /// As in a list, which is to cost little for each: tasks that it held are left out, and processes where they
    /// would have to be looked for among all.
    init(
        listed application: ManagedApplication, _ running: RunningApplication?,
        in registry: borrowing BackgroundTaskRegistry, at now: Instant
    ) {
        let isCheap = running?.processes.freezer != .signals
        self.init(brief: application, isCheap ? running : nil, in: registry, at: now)
        lastTermination?.held = []
        guard !isCheap else { return }
        frozen = registry.isSuspended(application.key)
        freezer = .signals
    }

    init(
        _ application: ManagedApplication, _ running: RunningApplication?,
        in registry: borrowing BackgroundTaskRegistry, at now: Instant
    ) {
        self.init(brief: application, running, in: registry, at: now)
        let registration = application.registration
        command = registration.command.map { Work(command: $0).shownCommand }
        profile = registration.profile
        handles = registration.handles.map { $0.list.map(Applications.Callback.init) }
    }

    /// Without what it is registered with.
    private init(
        brief application: ManagedApplication, _ running: RunningApplication?,
        in registry: borrowing BackgroundTaskRegistry, at now: Instant
    ) {
        self.init()
        let boot = registry.boot(at: now)
        id = application.key.id
        owner = Int(application.key.owner.rawValue)
        state = Applications.State(application.state)
        remainingMs = application.remaining(at: now)?.roundedUpMilliseconds
        backgroundMs = application.background(at: boot)?.wholeMilliseconds
        badge = application.record.badge
        tasks =
            registry.taskCount(of: application.key)
            + registry.performanceCount(of: application.key)
        if let running {
            pids = running.processIDs.map(Int.init)
            frozen = running.processes.isFrozen
            freezer = Applications.Freezer(running.processes.freezer)
            if running.runner == nil { units = running.units.map(\.name) }
        }
        lastTermination = application.lastTermination.map {
            Applications.Termination($0, at: boot)
        }
    }
}

extension Applications.Termination {
    init(_ termination: Termination, at boot: BootInstant) {
        self.init()
        reason = Applications.TerminationReason(termination.reason)
        switch termination.exit {
        case .status(let number): status = Int(number)
        case .signal(let number): signal = SignalName.name(of: number.rawValue)
        case nil: break
        }
        held = termination.held.map(Applications.HeldTask.init)
        backgroundMs = termination.background?.wholeMilliseconds
        agoMs = max(boot - termination.endedAt, .zero).wholeMilliseconds
    }
}

extension Applications.HeldTask {
    init(_ task: HeldTask) {
        self.init()
        id = task.id.number
        name = task.name
        ageMs = task.age.wholeMilliseconds
        durationMs = task.duration?.wholeMilliseconds
        graceMs = task.grace?.wholeMilliseconds
    }
}

extension Applications.Event {
    init(_ event: ApplicationEvent, of key: ApplicationKey) {
        self.init()
        application = key.id
        callback = event.callback.map(Applications.Callback.init)
        state = Applications.State(event.state)
        previous = Applications.State(event.previous)
        backgroundMs = event.background?.wholeMilliseconds
        remainingMs = event.remaining?.wholeMilliseconds
        deliveryId = event.delivery.map { Int(clamping: $0) }
        task = event.task?.number
        identifier = event.identifier
        payload = event.payload.flatMap(JSONValue.init(parsing:))
        badge = event.badge
        reason = event.reason
    }

    /// The state of an application as it is.
    init(
        present application: ManagedApplication, _ now: Instant,
        _ registry: borrowing BackgroundTaskRegistry
    ) {
        self.init()
        self.application = application.key.id
        state = Applications.State(application.state)
        previous = state
        remainingMs = application.remaining(at: now)?.wholeMilliseconds
        backgroundMs = application.background(at: registry.boot(at: now))?.wholeMilliseconds
        badge = application.record.badge
    }
}

extension Registration {
    /// Checks what the kernel could not take, by the path of its parameter.
    init(checking registration: Applications.Registration) throws(CallFailure) {
        self.init()
        if let command = registration.command {
            try Work.check(command, "registration.command")
            self.command = command
        }
        try Work.check(
            directory: registration.directory, registration.environment, in: "registration")
        directory = registration.directory
        environment = registration.environment ?? [:]
        exitsOnSuspend = registration.exitsOnSuspend == true
        hasBackgroundMode = registration.backgroundMode == true
        profile = registration.profile
        handles = registration.handles.map { Callbacks($0.map(Callback.init)) }
    }
}

extension Applications.State {
    init(_ state: ApplicationState) {
        self =
            switch state {
            case .notRunning: .notRunning
            case .inactive: .inactive
            case .active: .active
            case .background: .background
            case .suspended: .suspended
            }
    }
}

extension Applications.Callback {
    init(_ callback: Callback) {
        self =
            switch callback {
            case .didFinishLaunching: .didFinishLaunching
            case .didBecomeActive: .didBecomeActive
            case .willResignActive: .willResignActive
            case .didEnterBackground: .didEnterBackground
            case .willEnterForeground: .willEnterForeground
            case .willTerminate: .willTerminate
            case .backgroundTimeExpiring: .backgroundTimeExpiring
            case .didReceiveRemoteNotification: .didReceiveRemoteNotification
            case .didReceiveRemoteNotificationFetch: .didReceiveRemoteNotificationFetch
            case .willPresentNotification: .willPresentNotification
            case .didReceiveNotificationResponse: .didReceiveNotificationResponse
            case .badgeChanged: .badgeChanged
            case .performTask: .performTask
            case .taskExpiring: .taskExpiring
            case .didReceiveMemoryWarning: .didReceiveMemoryWarning
            }
    }
}

extension Callback {
    init(_ callback: Applications.Callback) {
        self =
            switch callback {
            case .didFinishLaunching: .didFinishLaunching
            case .didBecomeActive: .didBecomeActive
            case .willResignActive: .willResignActive
            case .didEnterBackground: .didEnterBackground
            case .willEnterForeground: .willEnterForeground
            case .willTerminate: .willTerminate
            case .backgroundTimeExpiring: .backgroundTimeExpiring
            case .didReceiveRemoteNotification: .didReceiveRemoteNotification
            case .didReceiveRemoteNotificationFetch: .didReceiveRemoteNotificationFetch
            case .willPresentNotification: .willPresentNotification
            case .didReceiveNotificationResponse: .didReceiveNotificationResponse
            case .badgeChanged: .badgeChanged
            case .performTask: .performTask
            case .taskExpiring: .taskExpiring
            case .didReceiveMemoryWarning: .didReceiveMemoryWarning
            }
    }
}

extension Applications.Span {
    /// One that goes on.
    init(_ span: ApplicationSpan, at boot: BootInstant) {
        self.init(span.key, span.state, span.reason)
        beganMs = max(boot - span.beganAt, .zero).wholeMilliseconds
    }

    /// One that has ended.
    init(_ span: StoredSpan, at now: WallTime) {
        self.init(span.key, span.state, span.reason)
        endedMs = span.endedAt?.elapsed(at: now).wholeMilliseconds
        // The clock may have been set back in between.
        beganMs = max(span.beganAt.elapsed(at: now).wholeMilliseconds, endedMs ?? 0)
        seenMs = span.seenAt?.elapsed(at: now).wholeMilliseconds
    }

    private init(
        _ key: ApplicationKey, _ state: ApplicationState, _ reason: TerminationReason?
    ) {
        self.init()
        application = key.id
        owner = Int(key.owner.rawValue)
        self.state = Applications.State(state)
        if state == .suspended { frozen = true }
        self.reason = reason.map(Applications.TerminationReason.init)
    }
}

extension Applications.TerminationReason {
    init(_ reason: TerminationReason) {
        self =
            switch reason {
            case .exited: .exited
            case .crashed: .crashed
            case .terminated: .terminated
            case .memoryPressure: .memoryPressure
            case .backgroundTimeOverrun: .backgroundTimeOverrun
            case .messageOverrun: .messageOverrun
            case .taskOverrun: .taskOverrun
            case .exitsOnSuspend: .exitsOnSuspend
            case .interrupted: .interrupted
            }
    }
}

extension Applications.Freezer {
    init(_ method: FreezeMethod) {
        self =
            switch method {
            case .cgroup: .cgroup
            case .unit: .unit
            case .signals: .signals
            }
    }
}

extension JSONValue {
    /// - Returns: `nil` where the text is no JSON.
    init?(parsing text: String) {
        guard let document = try? JSONDocument(parsing: text.utf8),
            let value = try? document.value()
        else { return nil }
        self = value
    }
}
