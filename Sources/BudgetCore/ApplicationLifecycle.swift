/// What moves an application from one state to another.
enum LifecycleEvent: Sendable, CaseIterable {
    /// Its command runs.
    case launched
    /// Processes that ran already were taken for it.
    case adopted
    /// It comes to the front.
    case activated
    /// Something lies over it.
    case resigned
    /// It leaves the front.
    case leftFront
    /// The kernel has confirmed that it is frozen.
    case frozen
    /// It was thawed for a message.
    case woken
    /// It is told to end.
    case ending
    /// Nothing of it runs any more.
    case gone
}

/// The state table of an application: what it is told, and where it is afterwards.
enum Lifecycle {
    struct Step: Equatable, Sendable {
        let callback: Callback?
        let next: ApplicationState

        init(_ callback: Callback?, _ next: ApplicationState) {
            self.callback = callback
            self.next = next
        }
    }

    /// - Returns: the steps in their order; `nil` where the event cannot happen in that state.
    static func steps(from state: ApplicationState, on event: LifecycleEvent) -> [Step]? {
        switch (event, state) {
        case (.launched, .notRunning):
            [Step(.didFinishLaunching, .inactive), Step(.didBecomeActive, .active)]
        case (.adopted, .notRunning): [Step(.didBecomeActive, .active)]

        case (.activated, .inactive): [Step(.didBecomeActive, .active)]
        case (.activated, .background), (.activated, .suspended):
            [Step(.willEnterForeground, .inactive), Step(.didBecomeActive, .active)]

        case (.resigned, .active): [Step(.willResignActive, .inactive)]

        case (.leftFront, .active):
            [Step(.willResignActive, .inactive), Step(.didEnterBackground, .background)]
        case (.leftFront, .inactive): [Step(.didEnterBackground, .background)]

        case (.frozen, .background): [Step(nil, .suspended)]
        case (.woken, .suspended): [Step(nil, .background)]

        case (.ending, .active), (.ending, .inactive), (.ending, .background):
            [Step(.willTerminate, state)]
        case (.ending, .suspended): []

        case (.gone, .active), (.gone, .inactive), (.gone, .background), (.gone, .suspended):
            [Step(nil, .notRunning)]

        default: nil
        }
    }
}
