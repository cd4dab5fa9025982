internal import BudgetCore
internal import TaskAPI
internal import Varlink

/// Why a call was not carried out; turned into its answer in one place.
enum CallFailure: Error {
    case refused(Refusal)
    case service(ServiceError)
    case badSettings(Manager.BadSettings)
    /// Why no command is started for a caller who is confined.
    case confined(String)
    /// Why processes cannot be an application.
    case cannotContain(Int32, String)

    static func invalid(_ parameter: String) -> CallFailure {
        .service(.invalidParameter(parameter: parameter))
    }
}

extension Client {
    /// Answers the call in progress with what was wrong with it.
    func reply(_ failure: CallFailure) {
        switch failure {
        case .service(let error): reply(error)
        case .badSettings(let error): replyError(Manager.BadSettings.name, error)
        case .cannotContain(let processID, let reason):
            replyError(Applications.CannotContain(pid: Int(processID), reason: reason))
        case .confined(let reason): replyError(Tasks.Confined(reason: reason))
        case .refused(let refusal): reply(refusal)
        }
    }

    private func reply(_ refusal: Refusal) {
        switch refusal {
        case .noSuchTask(let id): replyError(Tasks.NoSuchTask(id: id.number))
        case .noSuchProfile(let name):
            replyError(Tasks.NoSuchProfile(profile: Client.quoted(name)))
        case .noSuchGroup(let name):
            replyError(Tasks.NoSuchGroup(group: Client.quoted(name)))
        case .limitReached(let limit, let value):
            replyError(Tasks.LimitReached(limit: limit, value: value))
        case .tooLittleTime(let remaining, let needed):
            replyError(
                Tasks.TooLittleTime(
                    remainingMs: remaining.wholeMilliseconds, neededMs: needed.wholeMilliseconds))
        case .alreadyEnded(let id, let outcome):
            replyError(Tasks.AlreadyEnded(id: id.number, outcome: Tasks.Outcome(outcome)))
        case .notAccepting(let reason): replyError(Tasks.NotAccepting(reason: reason))
        case .invalidParameter(let name): reply(.invalidParameter(parameter: name))
        case .permissionDenied: reply(ServiceError.permissionDenied)
        case .noSuchApplication(let id):
            replyError(Applications.NoSuchApplication(id: Client.quoted(id)))
        case .notRegistered(let id): replyError(Applications.NotRegistered(id: Client.quoted(id)))
        case .wrongState(let id, let state):
            replyError(Applications.WrongState(id: Client.quoted(id), state: .init(state)))
        case .cannotStart(let id, let reason):
            replyError(Applications.CannotStart(id: Client.quoted(id), reason: reason))
        }
    }

    /// What is repeated of a peer's own text.
    private static func quoted(_ text: String) -> String {
        text.cut(toBytes: ServiceError.quotedBytesMax)
    }

    private func replyError<E: WireError>(_ error: E) {
        replyError(E.name, error)
    }
}
