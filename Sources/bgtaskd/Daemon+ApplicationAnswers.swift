internal import BudgetCore
internal import TaskAPI
internal import Varlink

/// A call about an application that waits for the disk, or for what was ordered.
struct ApplicationCall {
    let client: Client
    let key: ApplicationKey
    let answer: Answer

    enum Answer {
        case nothing
        /// The application as it is then.
        case application
        case receipt(Applications.Push.Output)
    }
}

extension Daemon {
    /// Keeps a call open until the core answers it.
    func wait(
        _ client: Client, for number: UInt64, _ key: ApplicationKey,
        _ answer: ApplicationCall.Answer
    ) {
        applicationCalls[number] = ApplicationCall(client: client, key: key, answer: answer)
        client.openCall = .application(number)
    }

    /// What a call waited for has happened, or will not.
    func answerApplicationCall(_ number: UInt64, _ refusal: Refusal?, at now: Instant) {
        guard let call = applicationCalls.removeValue(forKey: number) else { return }
        let client = call.client
        guard !client.isClosed else { return }
        client.openCall = nil
        if let refusal {
            client.reply(CallFailure.refused(refusal))
        } else {
            answer(call, at: now)
        }
        resume(client)
    }

    /// Nobody waits for an answer any more.
    func forgetApplicationCall(_ number: UInt64) {
        guard let call = applicationCalls.removeValue(forKey: number) else { return }
        registry.forgetWaiter(number, of: call.key)
    }

    private func answer(_ call: ApplicationCall, at now: Instant) {
        switch call.answer {
        case .nothing: call.client.reply(Empty())
        case .receipt(let output): call.client.reply(output)
        case .application:
            guard let application = try? registry.application(call.key) else {
                return call.client.reply(CallFailure.refused(.noSuchApplication(call.key.id)))
            }
            var output = Applications.Answer()
            output.application = Applications.Application(
                application, applications[call.key], in: registry, at: now)
            call.client.reply(output)
        }
    }
}
