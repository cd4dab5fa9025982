import BudgetCore
import DaemonShell
import TaskAPI
import Testing
import Varlink

@Suite("Answers that are owed")
struct PendingReplyTests {
    private let task = TaskID(rawValue: 7)

    @Test("who has the ticket answers once, and the call is over")
    func once() throws {
        let scene = try Scene()
        let caller = try scene.caller()
        let ticket = scene.replies.newTicket()
        scene.replies.open(caller.client, ticket) { $0.reply(Empty()) }
        #expect(caller.client.openCall != nil && !caller.client.isDone)
        scene.replies.resolve(ticket)
        #expect(caller.client.openCall == nil)
        scene.replies.resolve(ticket)
        #expect(caller.replies() == [#"{"parameters":{}}"#])
    }

    @Test("a refusal is the answer to all that wait for the same")
    func refused() throws {
        let scene = try Scene()
        let callers = try (0..<3).map { _ in try scene.caller() }
        for caller in callers {
            scene.replies.open(caller.client, about: .order(task)) { $0.reply(Empty()) }
        }
        let other = try scene.caller()
        scene.replies.open(other.client, about: .end(task)) { $0.reply(Empty()) }
        scene.replies.resolveAll(.order(task), .notAccepting("the disk is full"))
        for caller in callers {
            #expect(caller.replies().first?.contains("the disk is full") == true)
        }
        #expect(other.replies().isEmpty && scene.replies.isAwaited(.end(task)))
        #expect(!scene.replies.isAwaited(.order(task)))
    }

    @Test("orders about a group are answered in their order, those of who is gone too")
    func groups() throws {
        let scene = try Scene()
        let callers = try (0..<3).map { _ in try scene.caller() }
        var done: [UInt64] = []
        for caller in callers {
            let number = caller.client.number
            scene.replies.open(
                caller.client, about: .group("a"), succeeded: { done.append(number) }
            ) { $0.reply(Empty()) }
        }
        guard case .reply(let ticket) = callers[0].client.openCall else {
            return #expect(Bool(false))
        }
        callers[0].client.endAbruptly()
        scene.replies.drop(ticket)
        for _ in callers { scene.replies.resolveFirst(.group("a"), nil) }
        #expect(done == callers.map(\.client.number))
        #expect(callers[0].replies().isEmpty)
        #expect(callers[1].replies().count == 1 && callers[2].replies().count == 1)
        #expect(!scene.replies.isAwaited(.group("a")))
    }

    @Test("what nobody waits for any more is dropped once, and never answered")
    func dropped() throws {
        let scene = try Scene()
        let caller = try scene.caller()
        let ticket = scene.replies.newTicket()
        var drops = 0
        scene.replies.open(caller.client, ticket, dropped: { drops += 1 }) { $0.reply(Empty()) }
        scene.replies.drop(ticket)
        scene.replies.drop(ticket)
        scene.replies.resolve(ticket)
        #expect(drops == 1 && caller.replies().isEmpty)
    }

    @Test("an answer is due at its deadline, and not where it came before")
    func deadlines() throws {
        let scene = try Scene()
        let (early, late) = (try scene.caller(), try scene.caller())
        func seconds(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000_000) }
        for (caller, until) in [(early, 5), (late, 9)] as [(Scene.Caller, Int64)] {
            scene.replies.open(caller.client, about: .end(task), until: seconds(until)) {
                $0.reply(Empty())
            }
        }
        #expect(scene.replies.nextDeadline == seconds(5))
        scene.replies.expire(at: seconds(5))
        #expect(early.replies().count == 1 && late.replies().isEmpty)
        #expect(scene.replies.nextDeadline == seconds(9))
        scene.replies.resolveAll(.end(task)) { $0.reply(Empty()) }
        #expect(late.replies().count == 1 && scene.replies.nextDeadline == nil)
        scene.replies.expire(at: seconds(9))
        #expect(late.replies().isEmpty)
    }
}
