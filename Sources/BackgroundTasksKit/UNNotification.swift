public import Foundation

/// What a message says.
public final class UNNotificationContent: NSObject, @unchecked Sendable {
    // Nothing of it changes; the values of `userInfo` are those of JSON.
    /// Its title.
    public let title: String
    /// What stands below the title.
    public let subtitle: String
    /// Its text.
    public let body: String
    /// The number that it sets on the application.
    public let badge: NSNumber?
    /// All that its sender has put into it.
    public let userInfo: [AnyHashable: Any]

    /// The title and the body are those of `aps.alert`.
    init(_ message: Message) {
        userInfo = message.userInfo
        let aps = userInfo["aps"] as? [String: Any]
        let alert = aps?["alert"] as? [String: Any]
        title = alert?["title"] as? String ?? ""
        subtitle = alert?["subtitle"] as? String ?? ""
        body = alert?["body"] as? String ?? aps?["alert"] as? String ?? ""
        badge = (message.badge ?? aps?["badge"] as? Int).map { NSNumber(value: $0) }
    }
}

/// What was asked to be shown.
public final class UNNotificationRequest: NSObject, Sendable {
    /// A name of its own.
    public let identifier: String
    /// What it says.
    public let content: UNNotificationContent

    init(_ message: Message) {
        identifier = UUID().uuidString
        content = UNNotificationContent(message)
    }
}

/// A message.
public final class UNNotification: NSObject, Sendable {
    /// When it was taken.
    public let date = Date()
    /// What was asked to be shown.
    public let request: UNNotificationRequest

    init(_ message: Message) { request = UNNotificationRequest(message) }
}

/// What the user has done with a message.
public final class UNNotificationResponse: NSObject, Sendable {
    /// The message.
    public let notification: UNNotification
    /// What the user has done: opened it.
    public let actionIdentifier = UNNotificationDefaultActionIdentifier

    init(notification: UNNotification) { self.notification = notification }
}
