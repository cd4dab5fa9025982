import CSystemd
import Glibc
import Systemd
import Testing

@Suite("Orders about units where no manager answers")
struct UnitManagerLossTests {
    private let loop: EventLoop

    init() throws {
        loop = try EventLoop()
    }

    private func failure(
        at address: ManagerAddress, limit: Duration = .seconds(10), unit: String = "a.service"
    ) throws -> UnitFailure {
        let units = UnitManager(at: address, loop: loop, limit: limit)
        var result: Result<Void, UnitFailure>?
        units.freeze(unit: unit) { [loop] in
            result = $0
            loop.exit(0)
        }
        #expect(result == nil, "a completion comes from the loop alone")
        _ = try loop.runBounded()
        guard case .failure(let failure) = try #require(result) else { throw HandlerFailed() }
        return failure
    }

    @Test("an address that nobody serves is named")
    func nobody() throws {
        let failure = try failure(at: ManagerAddress(path: "/nowhere/private"))
        #expect(failure.errno == ENOENT)
        #expect("\(failure)".contains("out of reach: connect (/nowhere/private): No such file"))
    }

    @Test("a socket that accepts and never answers costs the limit, and the loop goes on meanwhile")
    func silent() throws {
        let socket = try BoundSocket(SOCK_STREAM, listening: true)
        var turns = 0
        var timer: TimerSource?
        timer = try loop.addTimer {
            turns += 1
            try timer?.arm(atNanoseconds: EventLoop.monotonicNanoseconds() + 1_000_000)
        }
        try timer?.arm(atNanoseconds: 1)
        let before = EventLoop.monotonicNanoseconds()
        let address = ManagerAddress(path: socket.path)
        let failure = try failure(at: address, limit: .milliseconds(200))
        #expect(failure.errno == ETIMEDOUT)
        #expect(EventLoop.monotonicNanoseconds() - before >= 200_000_000)
        #expect(turns > 1)
    }

    @Test("a bus that never says Hello costs the limit as well")
    func silentBus() throws {
        let fake = try FakeManager(in: loop)
        let address = ManagerAddress(path: fake.address.path, isBus: true)
        #expect(try failure(at: address, limit: .milliseconds(200)).errno == ETIMEDOUT)
        #expect(fake.connections == 1)
    }

    @Test("a socket that takes no more connections fails at once")
    func full() throws {
        let socket = try BoundSocket(SOCK_STREAM, listening: true)
        let address = ManagerAddress(path: socket.path)
        var connections: [BusConnection] = []
        while let connection = try? address.connect() { connections.append(connection) }
        #expect(connections.count > 1)
        #expect(try failure(at: address).errno == EAGAIN)
    }

    @Test("a socket of another user than the manager's is not spoken to")
    func foreign() throws {
        let socket = try BoundSocket(SOCK_STREAM, listening: true)
        let address = ManagerAddress(path: socket.path, owner: geteuid() + 1)
        let failure = try failure(at: address)
        #expect(failure.errno == EPERM)
        #expect("\(failure)".contains("belongs to user \(geteuid()) and not to user"))
    }

    @Test(
        "what cannot be a unit's name is refused here, as the empty one would mean ourselves",
        arguments: ["", "a\u{0}b", String(repeating: "a", count: 256)])
    func badName(unit: String) throws {
        let fake = try FakeManager(in: loop)
        #expect(try failure(at: fake.address, unit: unit).errno == EINVAL)
        #expect(fake.calls.isEmpty)
    }

    @Test("closing ends open calls at once, and nothing of them is left")
    func closes() throws {
        final class Token {}
        let socket = try BoundSocket(SOCK_STREAM, listening: true)
        weak var token: Token?
        weak var weakUnits: UnitManager?
        var ends: [Int32] = []
        do {
            let units = UnitManager(
                at: ManagerAddress(path: socket.path), loop: loop, limit: .seconds(60))
            let captured = Token()
            (token, weakUnits) = (captured, units)
            for unit in ["a", "b"] {
                units.thaw(unit: unit) {
                    _ = captured
                    if case .failure(let failure) = $0 { ends.append(failure.errno) }
                }
            }
            units.close()
            #expect(ends == [ECANCELED, ECANCELED])
            units.thaw(unit: "c") { _ in ends.append(captured === token ? 0 : 1) }
        }
        #expect(ends == [ECANCELED, ECANCELED, 0])
        #expect(token == nil)
        #expect(weakUnits == nil)
    }

    @Test("after the loop's end a call fails instead of waiting for it")
    func afterLoop() throws {
        let socket = try BoundSocket(SOCK_STREAM, listening: true)
        loop.exit(0)
        _ = try loop.runBounded()
        let units = UnitManager(
            at: ManagerAddress(path: socket.path), loop: loop, limit: .seconds(60))
        var failure: UnitFailure?
        units.freeze(unit: "a") { if case .failure(let error) = $0 { failure = error } }
        #expect(failure?.errno == ESTALE)
    }

    @Test("thawing without a loop waits no longer than the limit for all units together")
    func thawAtStart() throws {
        let socket = try BoundSocket(SOCK_STREAM, listening: true)
        let units = ["a.service", "b.service", ""]
        let failures = UnitManager.thaw(
            units, at: ManagerAddress(path: socket.path), within: .milliseconds(200))
        #expect(Set(failures.map(\.unit)) == Set(units))
        #expect(failures.filter { $0.errno == ETIMEDOUT }.count == 2)
        let none = ManagerAddress(path: "/nowhere/private")
        #expect(UnitManager.thaw(["a"], at: none, within: .seconds(60)).map(\.errno) == [ENOENT])
        #expect(UnitManager.thaw([], at: none, within: .seconds(60)).isEmpty)
    }
}
