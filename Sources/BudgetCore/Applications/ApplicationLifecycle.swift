/// What moves an application from one state to another.
package enum LifecycleEvent: Sendable, CaseIterable {
    /// Its command runs.
    case launched
    /// Its command runs, for a task that it is to do.
    case launchedInBackground
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
package enum Lifecycle {
    package struct Step: Equatable, Sendable {
        package let callback: Callback?
        package let next: ApplicationState

        init(_ callback: Callback?, _ next: ApplicationState) {
            self.callback = callback
            self.next = next
        }
    }

    /// - Returns: the steps in their order; `nil` where the event cannot happen in that state.
    package static func steps(from state: ApplicationState, on event: LifecycleEvent) -> [Step]? {
        switch event {
        case .launched:
            switch state {
            case .notRunning:
                [Step(.didFinishLaunching, .inactive), Step(.didBecomeActive, .active)]
            case .inactive, .active, .background, .suspended: nil
            }
        case .launchedInBackground:
            switch state {
            case .notRunning: [Step(.didFinishLaunching, .background)]
            case .inactive, .active, .background, .suspended: nil
            }
        case .adopted:
            switch state {
            case .notRunning: [Step(.didBecomeActive, .active)]
            case .inactive, .active, .background, .suspended: nil
            }
        case .activated:
            switch state {
            case .inactive: [Step(.didBecomeActive, .active)]
            case .background, .suspended:
                [Step(.willEnterForeground, .inactive), Step(.didBecomeActive, .active)]
            case .notRunning, .active: nil
            }
        case .resigned:
            switch state {
            case .active: [Step(.willResignActive, .inactive)]
            case .notRunning, .inactive, .background, .suspended: nil
            }
        case .leftFront:
            switch state {
            case .active:
                [Step(.willResignActive, .inactive), Step(.didEnterBackground, .background)]
            case .inactive: [Step(.didEnterBackground, .background)]
            case .notRunning, .background, .suspended: nil
            }
        case .frozen:
            switch state {
            case .background: [Step(nil, .suspended)]
            case .notRunning, .inactive, .active, .suspended: nil
            }
        case .woken:
            switch state {
            case .suspended: [Step(nil, .background)]
            case .notRunning, .inactive, .active, .background: nil
            }
        case .ending:
            switch state {
            case .inactive, .active, .background: [Step(.willTerminate, state)]
            case .suspended: []
            case .notRunning: nil
            }
        case .gone:
            switch state {
            case .inactive, .active, .background, .suspended: [Step(nil, .notRunning)]
            case .notRunning: nil
            }
        }
    }
}
