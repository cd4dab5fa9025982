public import Foundation

/// A task whose time has come, as its handler gets it.
///
/// `@unchecked Sendable`: what changes is behind the lock.
open class BGTask: NSObject, @unchecked Sendable {
    /// The request's.
    public let identifier: String

    private let lock = NSLock()
    private var handler: (() -> Void)?
    private var whenCompleted: (@Sendable (Bool) -> Void)?

    init(_ identifier: String, whenCompleted: @escaping @Sendable (Bool) -> Void) {
        self.identifier = identifier
        self.whenCompleted = whenCompleted
    }

    /// Called when the time is nearly over. Where there is none, the task is completed without success then.
    open var expirationHandler: (() -> Void)? {
        get { lock.withLock { handler } }
        set { lock.withLock { handler = newValue } }
    }

    /// Says that the work is over; once.
    open func setTaskCompleted(success: Bool) {
        let completed = lock.withLock {
            defer { (whenCompleted, handler) = (nil, nil) }
            return whenCompleted
        }
        completed?(success)
    }

    /// Its time is nearly over.
    func expire() {
        guard lock.withLock({ whenCompleted != nil }) else { return }
        guard let expirationHandler else { return setTaskCompleted(success: false) }
        expirationHandler()
    }
}

/// A short time, to fetch what is new.
///
/// `@unchecked Sendable`: as its superclass.
public final class BGAppRefreshTask: BGTask, @unchecked Sendable {}

/// Minutes, for what takes longer.
///
/// `@unchecked Sendable`: as its superclass.
public final class BGProcessingTask: BGTask, @unchecked Sendable {}

/// Work that the user has begun and looks at.
///
/// `@unchecked Sendable`: what it has besides its superclass is behind a lock.
public final class BGContinuedProcessingTask: BGTask, ProgressReporting, @unchecked Sendable {
    /// How far the work has come. Each time that its units are set, `bgtaskctl list` shows them; what its children have
    /// done is shown with the next.
    public let progress: Progress

    private let reports: TaskReports
    private let titles = NSLock()
    private var shownTitle: String
    private var shownSubtitle: String

    init(
        _ request: BGContinuedProcessingTaskRequest, _ reports: TaskReports,
        whenCompleted: @escaping @Sendable (Bool) -> Void
    ) {
        self.reports = reports
        progress = ReportedProgress(reports)
        (shownTitle, shownSubtitle) = (request.title, request.subtitle)
        super.init(request.identifier, whenCompleted: whenCompleted)
        updateTitle(request.title, subtitle: request.subtitle)
    }

    /// What the user sees of it.
    public var title: String { titles.withLock { shownTitle } }
    /// More of what the user sees of it.
    public var subtitle: String { titles.withLock { shownSubtitle } }

    /// Changes what the user sees of it.
    public func updateTitle(_ title: String, subtitle: String) {
        titles.withLock { (shownTitle, shownSubtitle) = (title, subtitle) }
        reports.report(subtitle.isEmpty ? title : "\(title): \(subtitle)")
    }
}
