internal import Glibc

/// Why an order about a unit was not carried out, in words.
package struct UnitFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The method of org.freedesktop.systemd1(5), such as `FreezeUnit`.
    package let method: String

    package let unit: String

    /// The positive errno(3) number: ETIMEDOUT without an answer in time, ECANCELED after
    /// ``UnitManager/close()``, EREMOTEIO for a refusal, EINVAL for what cannot be a unit's name; else why
    /// the manager cannot be reached, such as ENOENT and ECONNRESET.
    package let errno: Int32

    /// The name of the manager's refusal, such as `org.freedesktop.systemd1.NoSuchUnit`; empty where
    /// none came.
    package let errorName: String

    /// A sentence, which has the manager's own words where it refused.
    package let reason: String

    init(_ request: UnitRequest, _ errno: Int32, _ reason: String, errorName: String = "") {
        method = request.method
        unit = request.unit
        self.errno = errno
        self.errorName = errorName
        self.reason = reason
    }

    init(unreadable request: UnitRequest) {
        self.init(request, EBADMSG, "the answer cannot be read")
    }

    init(_ request: UnitRequest, _ refusal: ReceivedMessage.Failure) {
        self.init(request, EREMOTEIO, refusal.words, errorName: refusal.name)
    }

    init(_ request: UnitRequest, _ error: SystemdError) {
        let reason = error.errno == ECANCELED ? "given up" : "the service manager is out of reach"
        self.init(request, error.errno, "\(reason): \(error)")
    }

    /// The manager knows no such unit.
    package static let noSuchUnit = "org.freedesktop.systemd1.NoSuchUnit"
    /// The unit is not active: also while it starts and stops, when the manager freezes and thaws nothing.
    package static let unitInactive = "org.freedesktop.systemd1.UnitInactive"

    package var description: String { "\(method) of \(unit): \(reason)" }
}
