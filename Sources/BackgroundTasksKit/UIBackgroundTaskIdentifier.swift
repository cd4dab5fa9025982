/// A background task that has begun.
public struct UIBackgroundTaskIdentifier: RawRepresentable, Hashable, Sendable {
    /// Its number, which bgtaskctl(1) shows.
    public let rawValue: Int

    /// Names a task by its number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// No task: what a begin answers that has begun none.
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}
