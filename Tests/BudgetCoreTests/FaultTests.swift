import BudgetCore
import Testing

/// What a release build does where one that is made for tests might have stopped.
@Suite("What must never happen")
struct FaultTests {
    private func clerk() -> Clerk {
        var clerk = Clerk { $0.slots = 1 }
        clerk.provokesFaults = true
        return clerk
    }

    @Test("an event that cannot be in a phase changes nothing, and is told with both")
    func impossible() throws {
        var clerk = clerk()
        let id = try clerk.run()
        let before = clerk.task(id)
        clerk.call { $0.stored(.started(id), at: $1, &$2) }
        #expect(clerk.latest.isEmpty && clerk.task(id) == before)
        let fault = try #require(clerk.faults.first)
        #expect(clerk.faults.count == 1 && fault.task == id)
        #expect(fault.event == "startStored" && fault.state == "running(hasHandler: false)")
    }

    @Test("a command whose start is told twice is launched once, and has its budget once")
    func startedTwice() throws {
        var clerk = clerk()
        let id = try clerk.submit(
            Submission(name: "a", owner: Clerk.ann.owner, work: Work(command: ["a"])))
        #expect(clerk.latest.contains(.launch(id)))
        clerk.now = clerk.now + .seconds(3)
        clerk.call { $0.stored(.started(id), at: $1, &$2) }
        #expect(clerk.faults.map(\.event) == ["startStored"])
        #expect(clerk.latest.isEmpty && clerk.registry.counts.begunRun == 1)
        #expect(clerk.task(id)?.startedAt == clerk.now - .seconds(3))
    }

    @Test("what comes after it goes on: the task ends, and the next one takes its slot")
    func goesOn() throws {
        var clerk = clerk()
        let first = try clerk.run()
        let second = try clerk.run()
        for step in [StoreStep.started(first), .submitted(first, isStarted: false)] {
            clerk.call { $0.stored(step, at: $1, &$2) }
        }
        clerk.call { $0.notStored(.started(first), "no", at: $1, &$2) }
        clerk.call { $0.storeHealed(at: $1, &$2) }
        #expect(clerk.faults.count == 3)
        clerk.pass(.seconds(1000))
        clerk.exit(first, .signal(.kill))
        clerk.gone(first)
        #expect(clerk.task(first)?.outcome == .overrun)
        #expect(clerk.history.contains(.launch(second)) && clerk.faults.count == 3)
    }

    @Test("what is told of it is bounded")
    func bounded() {
        let text = String(repeating: "x", count: 10_000)
        let fault = Fault(text, state: text)
        #expect(fault.event.utf8.count <= 512 && fault.state.utf8.count <= 512)
    }
}
