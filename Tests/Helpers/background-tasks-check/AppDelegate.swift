// A program as for iOS, which writes a line for all that happens to it, for BackgroundTasksKitTests.
//
//     background-tasks-check SCENARIO LINES
//
// It carries out what it reads on standard input, a command a line.

import BackgroundTasksKit

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private let scenario = CommandLine.arguments.dropFirst().first ?? ""
    private let center = MessageCenter()
    private var observers: [any NSObjectProtocol] = []
    private var backgroundTask: UIBackgroundTaskIdentifier = .invalid

    func application(
        _ application: UIApplication,
        willFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        if scenario == "memory" { observe(UIApplication.didReceiveMemoryWarningNotification) }
        guard scenario == "lifecycle" else { return true }
        say("willFinishLaunching \(application.applicationState)")
        for name in [
            UIApplication.didFinishLaunchingNotification,
            UIApplication.didBecomeActiveNotification,
            UIApplication.willResignActiveNotification,
            UIApplication.didEnterBackgroundNotification,
            UIApplication.willEnterForegroundNotification,
            UIApplication.willTerminateNotification,
        ] { observe(name) }
        return true
    }

    private func observe(_ name: Notification.Name) {
        let observer = NotificationCenter.default.addObserver(
            forName: name, object: UIApplication.shared, queue: nil
        ) { say("posted \($0.name.rawValue)") }
        observers.append(observer)
    }

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        UNUserNotificationCenter.current().delegate = center
        registerTasks()
        tell("didFinishLaunching")
        DispatchQueue.global().async {
            while let line = readLine() {
                DispatchQueue.main.sync { MainActor.assumeIsolated { perform(line) } }
            }
        }
        return true
    }

    func applicationDidReceiveMemoryWarning(_ application: UIApplication) {
        say("memory warning")
    }

    func application(
        _ application: UIApplication,
        didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        let error = error as NSError
        say("no token: \(error.domain) \(error.code)")
    }

    func applicationDidBecomeActive(_ application: UIApplication) {
        tell("didBecomeActive")
        if scenario == "wakes" { perform("refresh refresh 3600") }
        guard scenario == "overruns" else { return }
        backgroundTask = application.beginBackgroundTask(withName: "save") { say("expiring") }
        say("holds \(backgroundTask != .invalid)")
    }

    func applicationWillResignActive(_ application: UIApplication) { tell("willResignActive") }
    func applicationWillEnterForeground(_ application: UIApplication) {
        tell("willEnterForeground")
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        tell("didEnterBackground")
        if scenario == "chains" {
            application.endBackgroundTask(application.beginBackgroundTask(withName: "first"))
            backgroundTask = application.beginBackgroundTask(withName: "second")
            say("holds \(backgroundTask != .invalid)")
        }
        guard scenario == "holds" else { return }
        backgroundTask = application.beginBackgroundTask(withName: "save") { [weak self] in
            guard let self else { return }
            say("expiring, \(application.applicationState)")
            application.endBackgroundTask(backgroundTask)
            backgroundTask = .invalid
        }
        let left = application.backgroundTimeRemaining
        say("holds \(backgroundTask != .invalid), \(left > 0 && left < 1000)")
    }

    func applicationWillTerminate(_ application: UIApplication) {
        say("willTerminate \(application.applicationState)")
        if scenario == "chains" { application.endBackgroundTask(backgroundTask) }
    }

    func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        say("fetches \(userInfo["message"] as? String ?? "nothing")")
        Task {
            application.applicationIconBadgeNumber += 1
            say("badge \(application.applicationIconBadgeNumber)")
            completionHandler(.newData)
        }
    }

    private func tell(_ callback: String) {
        guard scenario == "lifecycle" else { return }
        say("\(callback) \(UIApplication.shared.applicationState)")
    }
}

final class MessageCenter: NSObject, UNUserNotificationCenterDelegate, Sendable {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler:
            @escaping (UNNotificationPresentationOptions) ->
            Void
    ) {
        say("presents \(notification.request.content.title)")
        completionHandler([.banner])
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        let content = response.notification.request.content
        say("opened \(content.title): \(content.body)")
        try? await center.setBadgeCount(0)
    }
}
