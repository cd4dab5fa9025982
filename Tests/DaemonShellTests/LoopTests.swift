import BudgetCore
import DaemonShell
import Glibc
import LinuxSystem
import Systemd
import Testing

@Suite("The turn and what it goes by")
struct LoopTests {
    @Test("a turn has one instant, and what comes up within it belongs to it")
    func instants() throws {
        let scene = try Scene()
        var seen: [Int64] = []
        var ends = 0
        scene.core.connect(
            Core.Hooks(
                perform: { _ in }, finish: { ends += 1 }, arrange: { ends += 10 },
                continueLater: {}))
        scene.clock.seconds = 5
        scene.core.turn {
            seen.append(scene.second)
            scene.clock.seconds = 6
            scene.core.turn { seen.append(scene.second) }
            #expect(ends == 0)
        }
        #expect(seen == [5, 5] && ends == 11)
        scene.core.turn { seen.append(scene.second) }
        #expect(seen == [5, 5, 6] && ends == 22)
    }

    @Test("orders are performed in their order, those that come up meanwhile after them, each once")
    func orders() throws {
        let scene = try Scene()
        func action(_ number: UInt64) -> Action { .launch(TaskID(rawValue: number)) }
        var performed: [Action] = []
        scene.core.connect(
            Core.Hooks(
                perform: { order in
                    performed.append(order)
                    if performed.count <= 2 {
                        scene.core.order([action(UInt64(10 + performed.count))])
                    }
                }, finish: {}, arrange: {}, continueLater: {}))
        scene.core.order([action(1), action(2), action(3)])
        scene.core.perform()
        #expect(performed == [1, 2, 3, 11, 12].map(action))
        #expect(!scene.core.hasOrders)
        scene.core.order([action(4)])
        scene.core.perform()
        #expect(performed.last == action(4) && performed.count == 6)
    }

    @Test("another turn is asked for once, until it has come")
    func continuation() throws {
        let scene = try Scene()
        var asked = 0
        scene.core.connect(
            Core.Hooks(
                perform: { _ in }, finish: {}, arrange: {}, continueLater: { asked += 1 }))
        scene.core.continueLater()
        scene.core.continueLater()
        #expect(asked == 1)
        scene.core.continued()
        scene.core.continueLater()
        #expect(asked == 2)
    }

    @Test("what is due is done, and nothing else; what it makes due later waits")
    func deadlines() throws {
        let scene = try Scene()
        let table = try DeadlineTable(scene.core, try EventLoop()) {}
        func seconds(_ count: Int64) -> Instant { Instant(nanoseconds: count * 1_000_000_000) }
        var (first, second): (Instant?, Instant?) = (seconds(3), seconds(4))
        var done: [String] = []
        table.add(next: { first }) {
            done.append("first")
            first = seconds(7)
        }
        table.add(next: { second }) {
            done.append("second")
            second = nil
        }
        table.add(next: { .never }) { done.append("never") }
        scene.clock.seconds = 3
        scene.core.turn { table.fire() }
        #expect(done == ["first"])
        scene.clock.seconds = 4
        scene.core.turn { table.fire() }
        #expect(done == ["first", "second"])
        scene.core.turn { table.fire() }
        #expect(done == ["first", "second"])
    }

    @Test("the timer is armed at the first of all, and a full turn leaves the clients their time")
    func timer() throws {
        let scene = try Scene()
        let loop = try EventLoop()
        var fired = 0
        let table = try DeadlineTable(scene.core, loop) {
            fired += 1
            loop.exit(0)
        }
        let now = Instant.measured()
        table.add(next: { now + .milliseconds(2) }) {}
        table.add(next: { now + .seconds(3600) }) {}
        try table.arm()
        #expect(try loop.run() == 0)
        #expect(fired == 1 && Instant.measured() >= now + .milliseconds(2))
    }

    @Test(
        "the clients' time after a full turn counts from the end of that turn, however long it took"
    )
    func leftovers() throws {
        let (scene, loop) = (try Scene(), try EventLoop())
        let table = try DeadlineTable(scene.core, loop) {}
        try scene.core.turn {
            for _ in 0..<600 {
                var request = BeginRequest(
                    name: "a", owner: OwnerID(rawValue: 7), holder: HolderID(rawValue: 1))
                request.budget = RequestedBudget(duration: .seconds(2), grace: .seconds(1))
                _ = try scene.core.update { registry, now, actions in
                    try registry.begin(request, at: now, &actions)
                }
            }
            #expect(table.leftoversAt == nil)
        }
        scene.clock.seconds = 4
        try scene.core.turn {
            table.fire()
            // Firing so many has taken a second.
            scene.clock.seconds = 5
            try table.arm()
            #expect(table.leftoversAt.map { $0 > Instant(nanoseconds: 5_000_000_000) } == true)
            let first = table.leftoversAt
            scene.clock.seconds = 6
            try table.arm()
            #expect(table.leftoversAt == first)
        }
        scene.core.turn { table.fire() }
        try table.arm()
        #expect(table.leftoversAt == nil)
    }

    private final class Pipe: DescriptorHandler {
        let ends: [Int32]
        var registration: DescriptorPoll.Registration?
        var readyCount = 0
        var whenReady: () throws -> Void = {}

        init(_ poll: DescriptorPoll) throws {
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0)
            self.ends = ends
            registration = try poll.add(ends[0], .input, self)
        }

        deinit { for end in ends { close(end) } }

        func fill() { #expect(write(ends[1], "x", 1) == 1) }

        func ready(_ readiness: Readiness) {
            readyCount += 1
            do { try whenReady() } catch { Issue.record(error) }
        }
    }

    @Test("what came for one that was removed never reaches the one in its place")
    func staleEvents() throws {
        let poll = try DescriptorPoll()
        let (first, second) = (try Pipe(poll), try Pipe(poll))
        var third: Pipe?
        // Whichever is called first removes the other and has a new one take its place.
        func replace(_ other: Pipe) -> () throws -> Void {
            {
                guard third == nil, let registration = other.registration else { return }
                poll.remove(registration)
                third = try Pipe(poll)
            }
        }
        first.whenReady = replace(second)
        second.whenReady = replace(first)
        first.fill()
        second.fill()
        #expect(try poll.poll())
        #expect(first.readyCount + second.readyCount == 1)
        #expect(third?.readyCount == 0)
        third?.fill()
        _ = try poll.poll()
        #expect(third?.readyCount == 1)
    }

    @Test("one that is left alone is told of nothing until it is followed again")
    func interest() throws {
        let poll = try DescriptorPoll()
        let pipe = try Pipe(poll)
        let registration = try #require(pipe.registration)
        try poll.modify(registration, [])
        pipe.fill()
        #expect(try !poll.poll() && pipe.readyCount == 0)
        try poll.modify(registration, .input)
        #expect(try poll.poll() && pipe.readyCount == 1)
        poll.remove(registration)
        poll.remove(registration)
        #expect(try !poll.poll())
    }
}
