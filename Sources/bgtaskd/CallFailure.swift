internal import BudgetCore
internal import TaskAPI
internal import Varlink

/// Why a call was not carried out; turned into its answer in one place.
enum CallFailure: Error {
    case refused(Refusal)
    case service(ServiceError)
    case badSettings(Manager.BadSettings)

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
        case .refused(let refusal): reply(refusal)
        }
    }

    private func reply(_ refusal: Refusal) {
        switch refusal {
        case .noSuchTask(let id): replyError(Tasks.NoSuchTask(id: id.number))
        case .noSuchProfile(let name):
            replyError(Tasks.NoSuchProfile(profile: name.cut(toBytes: ServiceError.quotedBytesMax)))
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
        }
    }

    private func replyError<E: WireError>(_ error: E) {
        replyError(E.name, error)
    }
}

extension Tasks.NoSuchTask {
    init(id: Int) {
        self.init()
        self.id = id
    }
}

extension Tasks.NoSuchProfile {
    init(profile: String) {
        self.init()
        self.profile = profile
    }
}

extension Tasks.LimitReached {
    init(limit: String, value: Int) {
        self.init()
        self.limit = limit
        self.value = value
    }
}

extension Tasks.TooLittleTime {
    init(remainingMs: Int, neededMs: Int) {
        self.init()
        self.remainingMs = remainingMs
        self.neededMs = neededMs
    }
}

extension Tasks.AlreadyEnded {
    init(id: Int, outcome: Tasks.Outcome) {
        self.init()
        self.id = id
        self.outcome = outcome
    }
}

extension Tasks.NotAccepting {
    init(reason: String) {
        self.init()
        self.reason = reason
    }
}
