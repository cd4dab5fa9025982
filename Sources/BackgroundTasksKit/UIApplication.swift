public import Foundation
internal import TaskAPI

/// The program as an application: its state, and its time in the background.
@preconcurrency @MainActor open class UIApplication: UIResponder {
    /// The only one.
    public static let shared = UIApplication()

    /// Where an application is.
    public enum State: Int, Sendable { case active, inactive, background }

    /// What ``UIApplicationDelegate`` is told of the launch; nothing is at present.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        /// Its name.
        public let rawValue: String

        /// Makes a key of a name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The message that the launch is about.
        public static let remoteNotification = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
    }

    // MARK: Notifications, with the application as their object

    /// It has been launched.
    public nonisolated static let didFinishLaunchingNotification = Notification.Name(
        "UIApplicationDidFinishLaunchingNotification")
    /// It has come to the front.
    public nonisolated static let didBecomeActiveNotification = Notification.Name(
        "UIApplicationDidBecomeActiveNotification")
    /// It is about to leave the front, or something lies over it.
    public nonisolated static let willResignActiveNotification = Notification.Name(
        "UIApplicationWillResignActiveNotification")
    /// It has left the front.
    public nonisolated static let didEnterBackgroundNotification = Notification.Name(
        "UIApplicationDidEnterBackgroundNotification")
    /// It is about to come back.
    public nonisolated static let willEnterForegroundNotification = Notification.Name(
        "UIApplicationWillEnterForegroundNotification")
    /// It is about to end.
    public nonisolated static let willTerminateNotification = Notification.Name(
        "UIApplicationWillTerminateNotification")
    /// Memory is short.
    public nonisolated static let didReceiveMemoryWarningNotification = Notification.Name(
        "UIApplicationDidReceiveMemoryWarningNotification")
    /// Never posted: nothing tells of it.
    public nonisolated static let significantTimeChangeNotification = Notification.Name(
        "UIApplicationSignificantTimeChangeNotification")
    /// Never posted: the status stays as it is.
    public nonisolated static let backgroundRefreshStatusDidChangeNotification = Notification.Name(
        "UIApplicationBackgroundRefreshStatusDidChangeNotification")

    // MARK: State

    /// Active where nobody tells otherwise.
    public private(set) var applicationState = State.active

    /// Who is told what happens; ``UIApplicationMain(_:_:_:_:)`` and `@main` keep theirs.
    public weak var delegate: (any UIApplicationDelegate)?

    /// The number that the user sees on the application; 0 is none.
    public var applicationIconBadgeNumber: Int {
        get { Badge.number }
        set { _ = try? Badge.set(newValue) }
    }

    /// Background refresh is always there.
    public var backgroundRefreshStatus: UIBackgroundRefreshStatus { .available }

    /// As often as possible.
    public nonisolated static let backgroundFetchIntervalMinimum: TimeInterval = 0
    /// Never.
    public nonisolated static let backgroundFetchIntervalNever = TimeInterval
        .greatestFiniteMagnitude

    /// Does nothing: ``BGTaskScheduler`` has taken its place.
    public func setMinimumBackgroundFetchInterval(_ minimumBackgroundFetchInterval: TimeInterval) {}

    // MARK: Messages

    /// There is no token: who sends a message names the application itself, and it comes without this too.
    public var isRegisteredForRemoteNotifications: Bool { false }

    /// Has the delegate told that there is no token, as on the Simulator.
    public func registerForRemoteNotifications() {
        let error = NSError(
            domain: NSCocoaErrorDomain, code: 3010,
            userInfo: [NSLocalizedDescriptionKey: "messages are sent without a token here"])
        Task {
            delegate?.application(
                self, didFailToRegisterForRemoteNotificationsWithError: error)
        }
    }

    /// Does nothing.
    public func unregisterForRemoteNotifications() {}

    // MARK: Background time, for any thread

    /// Begins a task with the program's name; see ``beginBackgroundTask(withName:expirationHandler:)``.
    public nonisolated func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        beginBackgroundTask(withName: nil, expirationHandler: handler)
    }

    /// Begins a task: until its end the application is not suspended.
    ///
    /// The handler is called on the main thread when the time is nearly over, and has to end the task. Where the daemon
    /// refuses, does not answer within 2 s, or is not there, the answer is `invalid`.
    public nonisolated func beginBackgroundTask(
        withName taskName: String?,
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        let onMain = handler.map { handler in
            { @Sendable in MainActor.assumeIsolated { handler() } }
        }
        let id = try? HeldTasks.shared.begin(
            taskName ?? ProcessInfo.processInfo.processName, on: .main, expirationHandler: onMain)
        return id.map(UIBackgroundTaskIdentifier.init) ?? .invalid
    }

    /// Ends a task.
    public nonisolated func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
        HeldTasks.shared.end(identifier.rawValue)
    }

    /// The time until the first expiration handler is called; `greatestFiniteMagnitude` where no limit is in force.
    public nonisolated var backgroundTimeRemaining: TimeInterval {
        BackgroundTimeLeft.now ?? .greatestFiniteMagnitude
    }

    // MARK: What happens to it

    /// It is somewhere else now.
    func enter(_ state: State) { applicationState = state }
}

/// Whether the program may be run in the background.
public enum UIBackgroundRefreshStatus: Int, Sendable { case restricted, denied, available }
