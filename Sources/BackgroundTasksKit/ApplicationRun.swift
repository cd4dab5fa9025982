internal import BackgroundTime
internal import Foundation
internal import Glibc
internal import TaskAPI
internal import Varlink

/// The run of the program as an application: has the delegate and the observers told what happens.
@MainActor final class ApplicationRun {
    private let delegate: any UIApplicationDelegate
    private let application = UIApplication.shared
    private let role = ProcessRole.current
    private var signals: [any DispatchSourceSignal] = []
    private var events: ApplicationEvents?
    /// Whether a daemon has told anything, so that another one tells it now that does so from the beginning.
    private var hasHeard = false
    /// Seconds in which another daemon tells what has come about since it was started, if anything has.
    private static let backlogTime = 1.0
    /// Where another daemon says that it is, which has told nothing else yet.
    private var present: Applications.State?
    /// The scheduled tasks that it performs, by the tasks' numbers.
    private var performed: [Int: BGTaskScheduler.Launched] = [:]

    private init(_ delegate: any UIApplicationDelegate) { self.delegate = delegate }

    /// Runs the program until its end.
    static func run(_ delegate: any UIApplicationDelegate) -> Never {
        let run = ApplicationRun(delegate)
        run.launch()
        while true { withExtendedLifetime(run) { RunLoop.main.run() } }
    }

    private func launch() {
        application.delegate = delegate
        application.enter(isLaunchedInBackground ? .background : .inactive)
        // Before the first line of the program, so that nothing is missed of what follows.
        if case .application(let id) = role { events = ApplicationEvents(of: id) }
        _ = delegate.application(application, willFinishLaunchingWithOptions: nil)
        _ = delegate.application(application, didFinishLaunchingWithOptions: nil)
        post(UIApplication.didFinishLaunchingNotification)
        switch role {
        case .program:
            onRequestToEnd(.main) { [self] in terminate() }
            becomeActive()
        case .application:
            onRequestToEnd(.main) { [self] in endSoon() }
            guard let events, events.start(take) else { return becomeActive() }
        case .scheduledTask(let identifier, let kind): perform(identifier, kind)
        }
    }

    private var isLaunchedInBackground: Bool {
        switch role {
        case .program: return false
        case .scheduledTask: return true
        case .application(let id):
            var input = Applications.Reference()
            input.id = id
            let shown = try? Daemon.endpoint.call(Applications.Show.self, input)
            return shown?.application.state == .background
        }
    }

    // MARK: - What the daemon tells

    private func take(_ event: Applications.Event) {
        if event.callback == nil, event.number == 1 { return begin(at: event.state) }
        if present != nil {
            // What an earlier daemon had no time to tell.
            catchUp(to: event.previous)
            present = nil
        }
        perform(event)
        enter(event.state)
    }

    /// A daemon begins to tell: its first event is the present state, to which those lead that follow it.
    private func begin(at state: Applications.State) {
        defer { hasHeard = true }
        guard hasHeard else { return }
        present = state
        DispatchQueue.main.asyncAfter(deadline: .now() + Self.backlogTime) {
            MainActor.assumeIsolated {
                guard let present = self.present else { return }
                self.catchUp(to: present)
                self.present = nil
            }
        }
    }

    /// Goes where it is already, as the daemon says.
    private func catchUp(to state: Applications.State) {
        let isBehind = application.applicationState == .background
        switch state {
        case .active, .inactive:
            if isBehind { enterForeground() }
            if state == .active, application.applicationState != .active { becomeActive() }
            if state == .inactive, application.applicationState == .active { resignActive() }
        case .background, .suspended:
            if application.applicationState == .active { resignActive() }
            if !isBehind { enterBackground() }
        case .notRunning: return
        }
        enter(state)
    }

    private func enter(_ state: Applications.State) {
        switch state {
        case .active: application.enter(.active)
        case .inactive: application.enter(.inactive)
        case .background, .suspended: application.enter(.background)
        case .notRunning: break
        }
    }

    /// As in UIKit, the state changes before what it did, and after what it will do.
    private func perform(_ event: Applications.Event) {
        switch event.callback {
        case .didBecomeActive: becomeActive()
        case .willResignActive: resignActive()
        case .didEnterBackground: enterBackground()
        case .willEnterForeground: enterForeground()
        case .willTerminate: terminate()
        case .didReceiveRemoteNotification, .didReceiveRemoteNotificationFetch:
            let message = Message(event)
            delegate.application(
                application, didReceiveRemoteNotification: message.userInfo
            ) { _ in message.isDone() }
        case .willPresentNotification:
            UNUserNotificationCenter.current().willPresent(Message(event))
        case .didReceiveNotificationResponse:
            UNUserNotificationCenter.current().didReceiveResponse(to: Message(event))
        case .performTask: performTask(event)
        case .taskExpiring: event.task.flatMap { performed[$0] }?.expire()
        case .didReceiveMemoryWarning:
            delegate.applicationDidReceiveMemoryWarning(application)
            post(UIApplication.didReceiveMemoryWarningNotification)
        case .didFinishLaunching, .backgroundTimeExpiring, .badgeChanged, nil: break
        }
    }

    private func resignActive() {
        delegate.applicationWillResignActive(application)
        post(UIApplication.willResignActiveNotification)
    }

    private func enterBackground() {
        application.enter(.background)
        delegate.applicationDidEnterBackground(application)
        post(UIApplication.didEnterBackgroundNotification)
    }

    private func enterForeground() {
        delegate.applicationWillEnterForeground(application)
        post(UIApplication.willEnterForegroundNotification)
    }

    private func becomeActive() {
        application.enter(.active)
        delegate.applicationDidBecomeActive(application)
        post(UIApplication.didBecomeActiveNotification)
    }

    private func post(_ name: Notification.Name) {
        NotificationCenter.default.post(name: name, object: application)
    }

    // MARK: - Its end

    /// Has something done upon SIGTERM and SIGINT.
    private func onRequestToEnd(
        _ queue: DispatchQueue, _ body: @escaping @MainActor @Sendable () -> Void
    ) {
        onSignals(queue) { MainActor.assumeIsolated { body() } }
    }

    private func onSignals(_ queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        for number in [SIGTERM, SIGINT] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler(handler: body)
            source.resume()
            signals.append(source)
        }
    }

    private func terminate() -> Never {
        delegate.applicationWillTerminate(application)
        post(UIApplication.willTerminateNotification)
        HeldTasks.shared.tellEnds()
        exit(0)
    }

    /// The event that it ends comes before the signal, with what has happened until then; who was registered without
    /// that callback has the signal alone.
    private func endSoon() {
        let wait = events?.isOver == false ? 1.0 : 0
        DispatchQueue.main.asyncAfter(deadline: .now() + wait) {
            MainActor.assumeIsolated { () -> Void in self.terminate() }
        }
    }

    // MARK: - Scheduled tasks

    /// Performs a task for which the application was woken, or that came while it is awake.
    private func performTask(_ event: Applications.Event) {
        guard let number = event.task, let identifier = event.identifier,
            performed[number] == nil
        else { return }
        let delivery = Message(event)
        performed[number] = BGTaskScheduler.shared.launch(identifier, kind(of: number)) { success in
            delivery.isDone(success)
            DispatchQueue.main.async { MainActor.assumeIsolated { self.performed[number] = nil } }
        }
        if performed[number] == nil { delivery.isDone(false) }
    }

    /// What was asked for, by the profile that it was submitted with.
    private func kind(of number: Int) -> BGTaskKind {
        var input = Tasks.Reference()
        input.id = number
        let profile = try? Daemon.endpoint.call(Tasks.Show.self, input).task.profile
        return BGTaskKind.allCases.first { $0.profile == profile } ?? .processing
    }

    // MARK: - A process for a scheduled task

    /// The status is the task's outcome. Programs go on for a moment behind `setTaskCompleted`, to submit the next
    /// request for example, before iOS suspends them: so long this process stays.
    private func perform(_ identifier: String, _ kind: BGTaskKind) {
        let task = BGTaskScheduler.shared.launch(identifier, kind) { success in
            DispatchQueue.global().asyncAfter(deadline: .now() + 1) { exit(success ? 0 : 1) }
        }
        guard let task else {
            FileHandle.standardError.write(
                Data("no handler is registered for \(identifier)\n".utf8))
            exit(EX_CONFIG)
        }
        // Also while the main thread is busy.
        onSignals(.global()) { task.expire() }
    }
}
