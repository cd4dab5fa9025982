import BudgetCore
import Testing

@Suite("When a task was submitted, started and warned")
struct TaskTimesTests {
    @Test(
        "a held task starts when it begins, and what it was told of its time is known after its end"
    )
    func held() throws {
        var clerk = Clerk()
        let begun = clerk.now
        let id = try clerk.begin()
        #expect(clerk.task(id)?.submittedAt == begun)
        #expect(clerk.task(id)?.startedAt == begun)
        clerk.pass(.seconds(175) - .nanoseconds(1))
        #expect(clerk.task(id)?.warnedAt == nil)
        clerk.pass(.nanoseconds(1))
        #expect(clerk.task(id)?.warnedAt == begun + .seconds(175))
        clerk.pass(.seconds(2))
        _ = try clerk.end(id)
        let ended = try #require(clerk.task(id))
        #expect(ended.outcome == .expired)
        #expect(ended.submittedAt == begun)
        #expect(ended.startedAt == begun)
        #expect(ended.warnedAt == begun + .seconds(175))
    }

    @Test(
        "one that has more time after its warning was warned all the same; a second warning counts")
    func extended() throws {
        var clerk = Clerk()
        let begun = clerk.now
        let id = try clerk.begin()
        clerk.pass(.seconds(176))
        try clerk.call { _ = try $0.extend(id, by: Clerk.ann, at: $1, &$2) }
        #expect(clerk.task(id)?.state == .running)
        #expect(clerk.task(id)?.warnedAt == begun + .seconds(175))
        clerk.pass(.seconds(175))
        #expect(clerk.task(id)?.warnedAt == begun + .seconds(176 + 175))
    }

    @Test("who ends in time was not warned, and whoever is cancelled neither")
    func unwarned() throws {
        var clerk = Clerk()
        let held = try clerk.begin()
        _ = try clerk.end(held)
        #expect(clerk.task(held)?.warnedAt == nil)
        let run = try clerk.queue()
        try clerk.call { _ = try $0.cancel(run, by: Clerk.ann, text: nil, at: $1, &$2) }
        #expect(clerk.task(run)?.state == .expiring)
        clerk.exit(run, .signal(.terminate))
        clerk.gone(run)
        #expect(clerk.task(run)?.outcome == .cancelled)
        #expect(clerk.task(run)?.warnedAt == nil)
        // A new one takes the place of the one that was warned.
        let warned = try clerk.begin()
        clerk.pass(.seconds(175))
        _ = try clerk.end(warned)
        let next = try clerk.begin()
        #expect(clerk.task(warned)?.warnedAt != nil)
        #expect(clerk.task(next)?.warnedAt == nil)
    }

    @Test("each attempt has its own start and its own warning, and one that waits has none")
    func attempts() throws {
        var clerk = Clerk()
        let submitted = clerk.now
        let id = try clerk.queue { $0.retry = Retry(attempts: 3, delay: .seconds(30)) }
        clerk.pass(.seconds(175))
        clerk.finish(id, 1)
        var waiting = try #require(clerk.task(id))
        #expect(waiting.submittedAt == submitted)
        #expect(waiting.startedAt == nil)
        #expect(waiting.warnedAt == nil)
        clerk.pass(.seconds(30))
        clerk.pass(.seconds(3))
        #expect(clerk.task(id)?.startedAt == submitted + .seconds(205))
        clerk.finish(id, 1)
        waiting = try #require(clerk.task(id))
        let attempts = try #require(clerk.run(id)).attempts
        #expect(attempts.map(\.startedAt) == [submitted, submitted + .seconds(205)])
        #expect(attempts.map(\.warnedAt) == [submitted + .seconds(175), nil])
        #expect(waiting.startedAt == nil)
    }
}
