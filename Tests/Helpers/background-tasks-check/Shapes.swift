// What programs for iOS declare and call, which has to compile as it is.

import BackgroundTasksKit

/// As in the mocks of many programs.
@MainActor protocol BackgroundTaskManaging {
    var applicationState: UIApplication.State { get }
    nonisolated var backgroundTimeRemaining: TimeInterval { get }
    nonisolated func beginBackgroundTask(
        withName taskName: String?, expirationHandler handler: (@MainActor @Sendable () -> Void)?
    ) -> UIBackgroundTaskIdentifier
    nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier)
}

extension UIApplication: BackgroundTaskManaging {}

protocol TaskScheduling {
    func register(
        forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
        launchHandler: @escaping (BGTask) -> Void
    ) -> Bool
    func submit(_ taskRequest: BGTaskRequest) throws
    func cancel(taskRequestWithIdentifier identifier: String)
    func cancelAllTaskRequests()
    func getPendingTaskRequests(completionHandler: @escaping ([BGTaskRequest]) -> Void)
}

extension BGTaskScheduler: TaskScheduling {}

@MainActor final class Uploader {
    private var task: UIBackgroundTaskIdentifier = .invalid

    func upload() async {
        task = UIApplication.shared.beginBackgroundTask { [weak self] in self?.end() }
        for await _ in NotificationCenter.default.notifications(
            named: UIApplication.didEnterBackgroundNotification)
        {
            end()
        }
    }

    private func end() {
        guard task != .invalid else { return }
        UIApplication.shared.endBackgroundTask(task)
        task = .invalid
    }
}

func scheduleAsync() async -> Int {
    let isRestricted = await UIApplication.shared.backgroundRefreshStatus == .restricted
    let pending = await BGTaskScheduler.shared.pendingTaskRequests()
    do {
        try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "refresh"))
    } catch let error as BGTaskScheduler.Error where error.code == .unavailable {
        return 0
    } catch {}
    return isRestricted ? 0 : pending.count
}

final class AsyncDelegate: UIResponder, UIApplicationDelegate {
    private let started: Date

    required init() { started = Date() }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]
    ) async -> UIBackgroundFetchResult {
        userInfo["message"] == nil || started.timeIntervalSinceNow > 0 ? .noData : .newData
    }
}

extension UNUserNotificationCenter {
    static var isDenied: Bool {
        get async { await current().notificationSettings().authorizationStatus == .denied }
    }
}

/// As a main.swift has it, which leaves the result alone.
@MainActor func runByName() {
    UIApplicationMain(
        CommandLine.argc, CommandLine.unsafeArgv, NSStringFromClass(UIApplication.self),
        NSStringFromClass(AsyncDelegate.self))
}

let watchedNotifications = [
    UIApplication.significantTimeChangeNotification,
    UIApplication.backgroundRefreshStatusDidChangeNotification,
]
