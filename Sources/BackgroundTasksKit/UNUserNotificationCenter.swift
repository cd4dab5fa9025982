public import Foundation

/// What is asked of the user; nobody is.
public struct UNAuthorizationOptions: OptionSet, Sendable {
    /// Its bits.
    public let rawValue: UInt

    /// Makes options of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The number on the application.
    public static let badge = UNAuthorizationOptions(rawValue: 1)
    /// A sound.
    public static let sound = UNAuthorizationOptions(rawValue: 2)
    /// A text.
    public static let alert = UNAuthorizationOptions(rawValue: 4)
    /// Messages in the car.
    public static let carPlay = UNAuthorizationOptions(rawValue: 8)
    /// A sound where the user wants none.
    public static let criticalAlert = UNAuthorizationOptions(rawValue: 16)
    /// The program has a page of settings for messages.
    public static let providesAppNotificationSettings = UNAuthorizationOptions(rawValue: 32)
    /// Silent messages, for which the user is not asked.
    public static let provisional = UNAuthorizationOptions(rawValue: 64)
}

/// How a message is to be shown that came in front. What shows messages is not this program, so nobody looks at it.
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    /// Its bits.
    public let rawValue: UInt

    /// Makes options of bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The number on the application.
    public static let badge = UNNotificationPresentationOptions(rawValue: 1)
    /// A sound.
    public static let sound = UNNotificationPresentationOptions(rawValue: 2)
    /// A text.
    public static let alert = UNNotificationPresentationOptions(rawValue: 4)
    /// In the list of messages.
    public static let list = UNNotificationPresentationOptions(rawValue: 8)
    /// Over what is in front.
    public static let banner = UNNotificationPresentationOptions(rawValue: 16)
}

/// The action of a user who has opened a message.
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"

/// Messages that the user sees, and the badge.
public final class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    // Beside the delegate, which is behind the lock, it has nothing that changes.
    private static let only = UNUserNotificationCenter()

    private let lock = NSLock()
    private weak var told: (any UNUserNotificationCenterDelegate)?

    /// The only one.
    public static func current() -> UNUserNotificationCenter { only }

    /// Who is told of messages, on the main thread.
    public weak var delegate: (any UNUserNotificationCenterDelegate)? {
        get { lock.withLock { told } }
        set { lock.withLock { told = newValue } }
    }

    /// Sets the number that the user sees on the application.
    public func setBadgeCount(
        _ newBadgeCount: Int,
        withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        do {
            try Badge.set(newBadgeCount)
            completionHandler?(nil)
        } catch {
            completionHandler?(error)
        }
    }

    /// Sets the number that the user sees on the application.
    public func setBadgeCount(_ newBadgeCount: Int) async throws { try Badge.set(newBadgeCount) }

    /// Grants what is asked for.
    public func requestAuthorization(
        options: UNAuthorizationOptions = [],
        completionHandler: @escaping (Bool, (any Error)?) -> Void
    ) {
        completionHandler(true, nil)
    }

    /// Grants what is asked for.
    @discardableResult
    public func requestAuthorization(options: UNAuthorizationOptions = []) async throws -> Bool {
        true
    }

    /// Gives what is granted.
    public func getNotificationSettings(
        completionHandler: @escaping (UNNotificationSettings) -> Void
    ) {
        completionHandler(UNNotificationSettings())
    }

    /// What is granted.
    public func notificationSettings() async -> UNNotificationSettings { UNNotificationSettings() }

    // MARK: What the daemon tells

    func willPresent(_ message: Message) {
        guard let delegate else { return message.isDone() }
        delegate.userNotificationCenter(self, willPresent: UNNotification(message)) { _ in
            message.isDone()
        }
    }

    func didReceiveResponse(to message: Message) {
        guard let delegate else { return message.isDone() }
        let response = UNNotificationResponse(notification: UNNotification(message))
        delegate.userNotificationCenter(self, didReceive: response) { message.isDone() }
    }
}

/// Who is told of messages. Each callback may be left out, or be written with a completion handler or `async`.
public protocol UNUserNotificationCenterDelegate: AnyObject {
    /// A message has come while the application is in front.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler:
            @escaping (UNNotificationPresentationOptions) -> Void)

    /// The same, done with at the return.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions

    /// The user has opened a message.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void)

    /// The same, done with at the return.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async
}

extension UNUserNotificationCenterDelegate {
    /// Calls the one that is `async`.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler:
            @escaping (UNNotificationPresentationOptions) -> Void
    ) {
        // Both are used on the main thread alone, where this is called.
        nonisolated(unsafe) let (delegate, done) = (self, completionHandler)
        Task { @MainActor in
            done(await delegate.userNotificationCenter(center, willPresent: notification))
        }
    }

    /// Has it not shown.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions { [] }

    /// Calls the one that is `async`.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) {
        // Both are used on the main thread alone, where this is called.
        nonisolated(unsafe) let (delegate, done) = (self, completionHandler)
        Task { @MainActor in
            await delegate.userNotificationCenter(center, didReceive: response)
            done()
        }
    }

    /// Does nothing.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {}
}
