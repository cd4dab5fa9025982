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
    private var events: ReplyReader<Applications.Watch>?
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
        if case .application(let id) = role { events = reader(of: id) }
        _ = delegate.application(application, willFinishLaunchingWithOptions: nil)
        _ = delegate.application(application, didFinishLaunchingWithOptions: nil)
        post(UIApplication.didFinishLaunchingNotification)
        switch role {
        case .program:
            onRequestToEnd(.main) { [self] in terminate() }
            becomeActive()
        case .application:
            onRequestToEnd(.main) { [self] in endSoon() }
            guard let events, events.start(tell) else { return becomeActive() }
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

    private func reader(of id: String) -> ReplyReader<Applications.Watch>? {
        var input = Applications.Watch.Input()
        input.id = id
        return try? Daemon.endpoint.reader(of: Applications.Watch.self, input)
    }

    // MARK: - What the daemon tells

    private nonisolated func tell(_ reply: Applications.Watch.Output?) {
        guard let event = reply?.event else { return }
        DispatchQueue.main.async { MainActor.assumeIsolated { self.take(event) } }
    }

    /// As in UIKit, the state changes before what it did, and after what it will do.
    private func take(_ event: Applications.Event) {
        switch event.callback {
        case .didBecomeActive: becomeActive()
        case .willResignActive:
            delegate.applicationWillResignActive(application)
            post(UIApplication.willResignActiveNotification)
        case .didEnterBackground:
            application.enter(.background)
            delegate.applicationDidEnterBackground(application)
            post(UIApplication.didEnterBackgroundNotification)
        case .willEnterForeground:
            delegate.applicationWillEnterForeground(application)
            post(UIApplication.willEnterForegroundNotification)
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
        case .performTask: perform(event)
        case .taskExpiring: event.task.flatMap { performed[$0] }?.expire()
        case .didReceiveMemoryWarning:
            delegate.applicationDidReceiveMemoryWarning(application)
            post(UIApplication.didReceiveMemoryWarningNotification)
        case .didFinishLaunching, .backgroundTimeExpiring, .badgeChanged: break
        // The present state, which the first event tells, is that of a time to which the others lead.
        case nil where event.number == 1: return
        case nil: break
        }
        switch event.state {
        case .active: application.enter(.active)
        case .inactive: application.enter(.inactive)
        case .background, .suspended: application.enter(.background)
        case .notRunning: break
        }
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
    private func perform(_ event: Applications.Event) {
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
