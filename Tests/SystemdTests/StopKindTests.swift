import CSystemd
import Glibc
import Systemd
import Testing

@Suite("What a stop is")
struct StopKindTests {
    private let loop: EventLoop
    private let fake: FakeManager

    init() throws {
        loop = try EventLoop()
        fake = try FakeManager(in: loop)
        fake.answers = ["GetUnitByPID": .object("/unit"), "Job": .job(7, "/job/7")]
    }

    private func kind(
        at address: ManagerAddress? = nil, limit: Duration = .seconds(10)
    ) throws -> StopKind {
        var kinds: [StopKind] = []
        StopKind.ask(at: address ?? fake.address, loop: loop, limit: limit) { [loop] in
            kinds.append($0)
            loop.exit(0)
        }
        #expect(kinds.isEmpty, "the answer comes from the loop alone")
        _ = try loop.runBounded()
        #expect(kinds.count == 1)
        return try #require(kinds.first)
    }

    @Test(
        "is what the job of our own unit is",
        arguments: [
            ("stop", StopKind.stop), ("restart", .restart), ("try-restart", .restart),
            ("reload-or-restart", .restart),
            ("start", .unknown("the service manager has a job of type start")),
        ])
    func jobs(type: String, expected: StopKind) throws {
        fake.answers["JobType"] = .text(type)
        #expect(try kind() == expected)
        #expect(fake.calls == ["GetUnitByPID \(getpid())", "Get Job", "Get JobType"])
    }

    @Test("is not known where the unit has no job, as after kill(1)")
    func noJob() throws {
        fake.answers["Job"] = .job(0, "/")
        #expect(try kind() == .unknown("no job of the service manager is under way"))
        #expect(fake.calls.count == 2)
    }

    @Test(
        "is not known where an answer cannot be read, is a refusal, or never ends",
        arguments: ["GetUnitByPID", "Job", "JobType"],
        [
            FakeManager.Answer.nothing, .number(3), .refusal("a.b", "no"), .hangUp, .silence,
        ])
    func noAnswer(step: String, answer: FakeManager.Answer) throws {
        fake.answers["JobType"] = .text("stop")
        fake.answers[step] = answer
        var limit = Duration.seconds(10)
        if case .silence = answer { limit = .milliseconds(200) }
        guard case .unknown(let reason) = try kind(limit: limit) else { throw HandlerFailed() }
        #expect(!reason.isEmpty)
    }

    @Test("is not known where no manager is, and where the loop has ended")
    func nobody() throws {
        guard case .unknown(let reason) = try kind(at: ManagerAddress(path: "/nowhere/private"))
        else { throw HandlerFailed() }
        #expect(reason.contains("out of reach"))
        var kinds: [StopKind] = []
        StopKind.ask(at: fake.address, loop: loop, limit: .seconds(60)) { kinds.append($0) }
        #expect(kinds.count == 1)
    }

    @Test("is found out while the loop goes on, and leaves nothing behind")
    func loopGoesOn() throws {
        final class Token {}
        weak var token: Token?
        let socket = try BoundSocket(SOCK_STREAM, listening: true)
        var turns = 0
        var timer: TimerSource?
        timer = try loop.addTimer {
            turns += 1
            try timer?.arm(atNanoseconds: EventLoop.monotonicNanoseconds() + 1_000_000)
        }
        try timer?.arm(atNanoseconds: 1)
        do {
            let captured = Token()
            token = captured
            let address = ManagerAddress(path: socket.path)
            StopKind.ask(at: address, loop: loop, limit: .milliseconds(200)) { [loop] _ in
                _ = captured
                loop.exit(0)
            }
        }
        _ = try loop.runBounded()
        #expect(turns > 1)
        #expect(token == nil)
    }
}
