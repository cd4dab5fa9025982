internal import BackgroundTime
public import Foundation

extension BGTaskScheduler {
    /// The domain of its errors.
    public static let errorDomain = "BGTaskSchedulerErrorDomain"

    /// Why a request was not taken.
    public struct Error: CustomNSError, Hashable, Sendable {
        /// The reasons.
        public enum Code: Int, Sendable {
            /// There is no daemon, or it takes nothing now.
            case unavailable = 1
            /// More wait than its settings allow.
            case tooManyPendingTaskRequests
            /// It refuses this, or nobody has registered for it.
            case notPermitted
            /// It cannot begin now.
            case immediateRunIneligible

            /// Whether an error is this one, for `catch`.
            public static func ~= (code: Code, error: any Swift.Error) -> Bool {
                (error as? BGTaskScheduler.Error)?.code == code
            }
        }

        /// There is no daemon, or it takes nothing now.
        public static let unavailable = Code.unavailable
        /// More wait than its settings allow.
        public static let tooManyPendingTaskRequests = Code.tooManyPendingTaskRequests
        /// It refuses this, or nobody has registered for it.
        public static let notPermitted = Code.notPermitted
        /// It cannot begin now.
        public static let immediateRunIneligible = Code.immediateRunIneligible

        /// The domain of these errors.
        public static var errorDomain: String { BGTaskScheduler.errorDomain }

        /// The reason.
        public let code: Code
        /// The number of the reason.
        public var errorCode: Int { code.rawValue }

        /// Makes an error of a reason.
        public init(_ code: Code) { self.code = code }

        init(_ error: BackgroundTimeError) {
            switch error {
            case .daemonNotFound, .disconnected, .noTask, .cancelled: code = .unavailable
            case .refused("NotAccepting", _): code = .unavailable
            case .refused("LimitReached", _): code = .tooManyPendingTaskRequests
            case .refused: code = .notPermitted
            }
        }
    }
}
