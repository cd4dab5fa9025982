import BudgetCore
import Testing

@Suite("docs/architecture.md, rules 14 to 21: the state table")
struct LifecycleTests {
    struct Row: Sendable {
        let state: ApplicationState
        let event: LifecycleEvent
        /// Each step as its callback, if there is one, and the state after it.
        let steps: [String]

        init(_ state: ApplicationState, _ event: LifecycleEvent, _ steps: String...) {
            self.state = state
            self.event = event
            self.steps = steps
        }
    }

    static let rows: [Row] = [
        Row(.notRunning, .launched, "didFinishLaunching inactive", "didBecomeActive active"),
        Row(.notRunning, .launchedInBackground, "didFinishLaunching background"),
        Row(.notRunning, .adopted, "didBecomeActive active"),
        Row(.inactive, .activated, "didBecomeActive active"),
        Row(.background, .activated, "willEnterForeground inactive", "didBecomeActive active"),
        Row(.suspended, .activated, "willEnterForeground inactive", "didBecomeActive active"),
        Row(.active, .resigned, "willResignActive inactive"),
        Row(.active, .leftFront, "willResignActive inactive", "didEnterBackground background"),
        Row(.inactive, .leftFront, "didEnterBackground background"),
        Row(.background, .frozen, "suspended"),
        Row(.suspended, .woken, "background"),
        Row(.active, .ending, "willTerminate active"),
        Row(.inactive, .ending, "willTerminate inactive"),
        Row(.background, .ending, "willTerminate background"),
        Row(.suspended, .ending),
        Row(.active, .gone, "notRunning"),
        Row(.inactive, .gone, "notRunning"),
        Row(.background, .gone, "notRunning"),
        Row(.suspended, .gone, "notRunning"),
    ]

    @Test("each state and event leads where the table says, and no other pair leads anywhere")
    func table() {
        for state in ApplicationState.allCases {
            for event in LifecycleEvent.allCases {
                let row = Self.rows.first { $0.state == state && $0.event == event }
                let steps = Lifecycle.steps(from: state, on: event)
                let words = steps?.map { step in
                    (step.callback.map { "\($0) " } ?? "") + "\(step.next)"
                }
                #expect(words == row?.steps, "\(state) on \(event)")
            }
        }
    }

    @Test("rule 19: no step into the suspended state has a callback")
    func suspendingIsSilent() {
        for state in ApplicationState.allCases {
            for event in LifecycleEvent.allCases {
                for step in Lifecycle.steps(from: state, on: event) ?? []
                where step.next == .suspended { #expect(step.callback == nil) }
            }
        }
    }
}
