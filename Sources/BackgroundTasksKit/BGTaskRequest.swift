public import Foundation

/// What a scheduled task may do and how long, and the profile that says so.
enum BGTaskKind: String, CaseIterable {
    case refresh, processing

    var profile: String {
        switch self {
        case .refresh: "short"
        case .processing: "extended"
        }
    }
}

/// A request to have the program run later.
///
/// `@unchecked Sendable`: as on iOS, who hands one over changes it no more.
open class BGTaskRequest: NSObject, NSCopying, @unchecked Sendable {
    /// The task's name, under which a handler is registered.
    public let identifier: String
    /// Not before this; at once if not given.
    open var earliestBeginDate: Date?

    init(identifier: String) { self.identifier = identifier }

    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = another()
        copy.earliestBeginDate = earliestBeginDate
        return copy
    }

    /// The same request without its date.
    func another() -> BGTaskRequest { BGTaskRequest(identifier: identifier) }
}

/// A request for a short time, to fetch what is new: 30 s, as the profile `short` has it.
///
/// `@unchecked Sendable`: as its superclass.
public final class BGAppRefreshTaskRequest: BGTaskRequest, @unchecked Sendable {
    public override init(identifier: String) { super.init(identifier: identifier) }

    override func another() -> BGTaskRequest { BGAppRefreshTaskRequest(identifier: identifier) }
}

/// A request for minutes: as the profile `extended` has it.
///
/// `@unchecked Sendable`: as its superclass.
public final class BGProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// Not while there is no default route.
    public var requiresNetworkConnectivity = false
    /// Not while the machine is on battery.
    public var requiresExternalPower = false

    public override init(identifier: String) { super.init(identifier: identifier) }

    override func another() -> BGTaskRequest {
        let copy = BGProcessingTaskRequest(identifier: identifier)
        copy.requiresNetworkConnectivity = requiresNetworkConnectivity
        copy.requiresExternalPower = requiresExternalPower
        return copy
    }
}

/// A request to go on now with what the user has begun, in the background too.
///
/// `@unchecked Sendable`: as its superclass.
public final class BGContinuedProcessingTaskRequest: BGTaskRequest, @unchecked Sendable {
    /// What happens where it cannot begin now. Here it never waits: both have `submit` throw.
    public enum SubmissionStrategy: Int, Sendable { case fail, queue }

    /// What it needs besides; nothing of it is granted.
    public struct Resources: OptionSet, Sendable {
        /// Its bits.
        public let rawValue: Int

        /// Makes resources of bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The graphics processor.
        public static let gpu = Resources(rawValue: 1)
    }

    /// What the user sees of it.
    public var title: String
    /// More of what the user sees of it.
    public var subtitle: String
    /// What happens where it cannot begin now.
    public var strategy = SubmissionStrategy.queue
    /// What it needs besides.
    public var requiredResources: Resources = []

    /// Asks for it under a title.
    public init(identifier: String, title: String, subtitle: String) {
        (self.title, self.subtitle) = (title, subtitle)
        super.init(identifier: identifier)
    }

    override func another() -> BGTaskRequest {
        let copy = BGContinuedProcessingTaskRequest(
            identifier: identifier, title: title, subtitle: subtitle)
        (copy.strategy, copy.requiredResources) = (strategy, requiredResources)
        return copy
    }
}
