internal import JSON
internal import Varlink

/// Why no background time was to be had.
public enum BackgroundTimeError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nobody listens at the daemon's socket; `reason` is that of connect(2).
    case daemonNotFound(path: String, reason: String)
    /// The daemon has gone, or does not answer.
    case disconnected(reason: String)
    /// The daemon refuses a call: the error's name in its interfaces, and what is wrong where the name does not say all.
    case refused(name: String, reason: String?)
    /// The task has ended, or never began.
    case noTask
    /// The Swift task that waited was cancelled.
    case cancelled

    /// One sentence, for a person.
    public var description: String {
        switch self {
        case .daemonNotFound(let path, let reason): "no bgtaskd at \(path): \(reason)"
        case .disconnected(let reason): "bgtaskd does not answer: \(reason)"
        case .refused(let name, let reason):
            "bgtaskd refuses this: \(name)" + (reason.map { " (\($0))" } ?? "")
        case .noTask: "there is no task any more"
        case .cancelled: "nobody waits any more"
        }
    }

    init(_ error: ClientError, at path: String) {
        switch error {
        case .cannotConnect(_, let errno):
            self = .daemonNotFound(path: path, reason: ClientError.text(errno))
        case .badAddress: self = .daemonNotFound(path: path, reason: error.description)
        case .remote(let remote):
            let name = remote.name.split(separator: ".").last.map(String.init) ?? remote.name
            let said = remote.parameters.text
            self = .refused(name: name, reason: remote.reason ?? (said == "{}" ? nil : said))
        default: self = .disconnected(reason: error.description)
        }
    }
}

/// The time of a background task was up before its work was done.
public struct BackgroundTimeExpired: Error, Equatable, Sendable, CustomStringConvertible {
    /// The task's name.
    public let name: String
    /// How the task ended, as far as that is known: `expired`, `overrun`, or `cancelled` by somebody.
    public let outcome: String?

    /// One sentence, for a person.
    public var description: String {
        "the time of \(name) was up" + (outcome.map { " (\($0))" } ?? "")
    }
}
