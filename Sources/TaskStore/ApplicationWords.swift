internal import BudgetCore

/// The words in the database, which must never change their meaning.
extension Callbacks {
    /// In the order of their declaration.
    var words: [String] { list.map(\.word) }

    /// - Returns: `nil` where a word is not known.
    init?(words: [String]) {
        var callbacks: [Callback] = []
        for word in words {
            guard let known = Callback.allCases.first(where: { $0.word == word })
            else { return nil }
            callbacks.append(known)
        }
        self.init(callbacks)
    }
}

extension Callback {
    fileprivate var word: String {
        switch self {
        case .didFinishLaunching: "didFinishLaunching"
        case .didBecomeActive: "didBecomeActive"
        case .willResignActive: "willResignActive"
        case .didEnterBackground: "didEnterBackground"
        case .willEnterForeground: "willEnterForeground"
        case .willTerminate: "willTerminate"
        case .backgroundTimeExpiring: "backgroundTimeExpiring"
        case .didReceiveRemoteNotification: "didReceiveRemoteNotification"
        case .didReceiveRemoteNotificationFetch: "didReceiveRemoteNotificationFetch"
        case .willPresentNotification: "willPresentNotification"
        case .didReceiveNotificationResponse: "didReceiveNotificationResponse"
        case .badgeChanged: "badgeChanged"
        case .performTask: "performTask"
        case .taskExpiring: "taskExpiring"
        case .didReceiveMemoryWarning: "didReceiveMemoryWarning"
        }
    }
}

extension TerminationReason {
    /// The number in the database, which must never change its meaning.
    var code: Int64 {
        switch self {
        case .exited: 0
        case .crashed: 1
        case .terminated: 2
        case .memoryPressure: 3
        case .backgroundTimeOverrun: 4
        case .messageOverrun: 5
        case .exitsOnSuspend: 6
        case .interrupted: 7
        case .taskOverrun: 8
        }
    }

    init?(code: Int64) {
        guard let reason = TerminationReason.allCases.first(where: { $0.code == code })
        else { return nil }
        self = reason
    }
}
