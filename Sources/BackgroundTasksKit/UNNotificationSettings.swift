public import Foundation

/// What is granted: everything, as nobody is asked.
public final class UNNotificationSettings: NSObject, Sendable {
    /// Whether the program may show messages.
    public let authorizationStatus = UNAuthorizationStatus.authorized
    /// Whether they have a text.
    public let alertSetting = UNNotificationSetting.enabled
    /// Whether they set the number on the application.
    public let badgeSetting = UNNotificationSetting.enabled
    /// Whether they have a sound.
    public let soundSetting = UNNotificationSetting.enabled

    override init() {}
}

/// Whether a program may show messages.
public enum UNAuthorizationStatus: Int, Sendable {
    case notDetermined, denied, authorized, provisional, ephemeral
}

/// Whether one kind of message is shown.
public enum UNNotificationSetting: Int, Sendable { case notSupported, disabled, enabled }
