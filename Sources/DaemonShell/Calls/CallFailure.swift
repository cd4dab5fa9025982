package import BudgetCore
package import TaskAPI
package import Varlink

/// Why a call was not carried out; turned into its answer in one place.
package enum CallFailure: Error {
    case refused(Refusal)
    /// With what a person is told of it.
    case service(ServiceError, reason: String? = nil)
    case badSettings(Manager.BadSettings)
    /// Why no command is started for a caller who is confined.
    case confined(String)
    /// Why processes cannot be an application.
    case cannotContain(Int32, String)

    /// Nothing is kept of what a task printed; whether that was lost with an earlier daemon.
    case outputGone(TaskID, lostWithDaemon: Bool)

    package static func invalid(_ parameter: String) -> CallFailure {
        .service(
            .invalidParameter(parameter: parameter), reason: ParameterRule(for: parameter)?.text)
    }
}
