/// What a message is for.
package enum MessageKind: UInt8, Sendable, CaseIterable {
    /// It is shown to the user.
    case alert
    /// It is for the application alone.
    case silent
}

/// What the user did with a message.
package enum UserAction: UInt8, Sendable, CaseIterable {
    /// It only arrived.
    case none
    case tapped
    /// The user opened the application, not the message.
    case opened
}

/// A message (push) to an application.
package struct PushMessage: Equatable, Sendable {
    package var kind: MessageKind
    package var action: UserAction
    /// A JSON text, which nobody here looks into.
    package var payload: String?

    package init(kind: MessageKind, action: UserAction = .none, payload: String? = nil) {
        self.kind = kind
        self.action = action
        self.payload = payload
    }
}

/// Where a message goes (rule 22 in docs/architecture.md).
struct MessageRoute: Equatable, Sendable {
    enum Preparation: Sendable {
        case nothing, launch, thaw
    }

    var preparation = Preparation.nothing
    /// In their order; those that the application does not handle are left out.
    var callbacks: [Callback] = []

    static let nowhere = MessageRoute()

    /// The table of rule 22 by state, the user's action, and whether the handlers are the newer ones.
    ///
    /// - Parameter wasPresented: whether the application was told of the same alert when it came.
    static func of(
        _ message: PushMessage, in state: ApplicationState, _ registration: Registration,
        wasPresented: Bool
    ) -> MessageRoute {
        guard message.action != .opened else { return .nowhere }
        guard message.kind == .alert else { return silent(in: state, registration) }
        let isNewer =
            registration.handles(.willPresentNotification)
            || registration.handles(.didReceiveNotificationResponse)
        let older = registration.remoteNotification
        switch (state, message.action) {
        case (.notRunning, .tapped):
            let callback = isNewer ? Callback.didReceiveNotificationResponse : older
            return MessageRoute(.launch, [callback], registration)
        case (.background, .tapped), (.suspended, .tapped):
            let callback = isNewer ? Callback.didReceiveNotificationResponse : older
            return MessageRoute(.thaw, [callback], registration)
        case (.notRunning, _), (.background, _), (.suspended, _):
            return .nowhere
        case (.active, .tapped), (.inactive, .tapped):
            guard isNewer else {
                return wasPresented ? .nowhere : MessageRoute(.nothing, [older], registration)
            }
            let first: [Callback] = wasPresented ? [] : [.willPresentNotification]
            return MessageRoute(
                .nothing, first + [.didReceiveNotificationResponse], registration)
        case (.active, _), (.inactive, _):
            let callback = isNewer ? Callback.willPresentNotification : older
            return MessageRoute(.nothing, [callback], registration)
        }
    }

    private static func silent(
        in state: ApplicationState, _ registration: Registration
    ) -> MessageRoute {
        guard state != .notRunning else { return .nowhere }
        let preparation: Preparation = state.isInFront ? .nothing : .thaw
        let route = MessageRoute(preparation, [registration.remoteNotification], registration)
        // Nobody is woken for what nobody takes.
        return route.callbacks.isEmpty ? .nowhere : route
    }

    private init(
        _ preparation: Preparation = .nothing, _ callbacks: [Callback?] = [],
        _ registration: Registration? = nil
    ) {
        self.preparation = preparation
        self.callbacks = callbacks.compactMap(\.self).filter { registration?.handles($0) ?? false }
    }
}
