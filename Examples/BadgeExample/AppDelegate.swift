// Keeps its badge right: the number of unread messages, whatever way they came in.
//
//     badge-example INBOX
//
// The inbox is a folder with a file for each unread message. Who sends one puts it there and pushes
// {"message": NAME}. It is told of some messages twice and of others not at all, so it never adds
// one: it counts.

import BackgroundTasksKit

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private let inbox = CommandLine.arguments.dropFirst().first ?? ""

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        guard CommandLine.arguments.count == 2 else {
            FileHandle.standardError.write(
                Data("usage: badge-example INBOX\n".utf8))
            exit(1)
        }
        UNUserNotificationCenter.current().delegate = self
        return true
    }

    func applicationDidBecomeActive(_ application: UIApplication) { _ = count() }

    func application(
        _ application: UIApplication,
        didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        tell("didReceiveRemoteNotificationFetch", userInfo)
        // From here on it may be suspended again.
        completionHandler(.newData)
    }

    /// Sets the badge.
    ///
    /// - Returns: how many are unread.
    private func count() -> Int {
        let unread = (try? FileManager.default.contentsOfDirectory(atPath: inbox)) ?? []
        UIApplication.shared.applicationIconBadgeNumber = unread.count
        return unread.count
    }

    private func tell(_ callback: String, _ userInfo: [AnyHashable: Any]) {
        let unread = count()
        if let message = userInfo["message"] as? String {
            say("\(callback) \(message): \(unread) unread")
        }
    }

    /// The user has opened it. The name is from outside: it counts only where the inbox has it.
    private func open(_ message: String?) {
        let unread = (try? FileManager.default.contentsOfDirectory(atPath: inbox)) ?? []
        guard let message, unread.contains(message) else { return }
        try? FileManager.default.removeItem(atPath: inbox + "/" + message)
    }
}

extension AppDelegate: @preconcurrency UNUserNotificationCenterDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler:
            @escaping (UNNotificationPresentationOptions) ->
            Void
    ) {
        tell("willPresentNotification", notification.request.content.userInfo)
        completionHandler([.badge, .banner])
    }

    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        let userInfo = response.notification.request.content.userInfo
        open(userInfo["message"] as? String)
        tell("didReceiveNotificationResponse", userInfo)
        completionHandler()
    }
}

/// Writes a line, at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
