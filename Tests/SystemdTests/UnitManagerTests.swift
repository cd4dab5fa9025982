import Glibc
import Systemd
import Testing

@Suite("Orders about units")
struct UnitManagerTests {
    private let loop: EventLoop
    private let fake: FakeManager
    private let units: UnitManager

    init() throws {
        loop = try EventLoop()
        fake = try FakeManager(in: loop)
        units = UnitManager(at: fake.address, loop: loop, limit: .seconds(10))
    }

    /// Runs the loop until `call` has completed.
    private func result<Value>(
        of call: (@escaping (Result<Value, UnitFailure>) -> Void) -> Void
    ) throws -> Result<Value, UnitFailure> {
        var result: Result<Value, UnitFailure>?
        let loop = self.loop
        call {
            result = $0
            loop.exit(0)
        }
        #expect(result == nil, "a completion comes from the loop alone")
        _ = try loop.runBounded()
        return try #require(result)
    }

    private func failure<Value>(
        of call: (@escaping (Result<Value, UnitFailure>) -> Void) -> Void
    ) throws -> UnitFailure {
        guard case .failure(let failure) = try result(of: call) else { throw HandlerFailed() }
        return failure
    }

    @Test("a refusal comes through in the manager's own words")
    func refusal() throws {
        let words = "Unit 'a.socket' does not support freezing."
        fake.answers["FreezeUnit"] = .refusal("org.freedesktop.DBus.Error.NotSupported", words)
        let failure = try failure { units.freeze(unit: "a.socket", completion: $0) }
        #expect(failure.errno == EREMOTEIO)
        #expect(failure.errorName == "org.freedesktop.DBus.Error.NotSupported")
        #expect("\(failure)" == "FreezeUnit of a.socket: \(failure.errorName): \(words)")
    }

    @Test("a refusal's words are cut where a hostile manager sends megabytes of them")
    func longRefusal() throws {
        let words = String(repeating: "x", count: 2_000_000)
        fake.answers["KillUnit"] = .refusal("a.b", words)
        let failure = try failure { units.kill(unit: "a", signal: SIGTERM, completion: $0) }
        #expect(failure.reason.utf8.count < 5_000)
    }

    @Test("the connection is let go after the last answer")
    func letsGo() throws {
        fake.answers["FreezeUnit"] = .nothing
        let loop = self.loop
        fake.closed = { loop.exit(7) }
        var completed = 0
        for unit in ["a.service", "b.service"] {
            units.freeze(unit: unit) { if case .success = $0 { completed += 1 } }
        }
        #expect(try loop.runBounded() == 7)
        #expect(completed == 2)
        #expect(fake.connections == 1)
        #expect(fake.calls == ["FreezeUnit a.service", "FreezeUnit b.service"])
    }

    @Test("a manager that hung up is connected anew at the next call, even from the completion")
    func connectsAnew() throws {
        fake.answers = ["FreezeUnit": .hangUp, "ThawUnit": .nothing]
        var failures: [UnitFailure] = []
        let result: Result<Void, UnitFailure> = try result { completion in
            units.freeze(unit: "a.service") { [units] in
                if case .failure(let failure) = $0 { failures.append(failure) }
                units.thaw(unit: "a.service", completion: completion)
            }
            // Lost with the same connection.
            units.freeze(unit: "b.service") {
                if case .failure(let failure) = $0 { failures.append(failure) }
            }
        }
        #expect(throws: Never.self) { try result.get() }
        #expect(failures.map(\.errno) == [ECONNRESET, ECONNRESET])
        #expect(fake.connections == 2)
    }

    @Test("a call without an answer fails alone, and what is answered later does not")
    func oneTimeout() throws {
        let units = UnitManager(at: fake.address, loop: loop, limit: .seconds(2))
        fake.answers = ["FreezeUnit": .silence, "ThawUnit": .nothing]
        var thawed = false
        let failure = try failure { completion in
            units.freeze(unit: "a.service", completion: completion)
            units.thaw(unit: "a.service") { if case .success = $0 { thawed = true } }
        }
        #expect(failure.errno == ETIMEDOUT)
        #expect(failure.reason == "the service manager did not answer within 2.0 seconds")
        #expect(thawed)
    }

    private static let inactive = FakeManager.Answer.refusal(UnitFailure.unitInactive, "Inactive.")

    @Test(
        "thawing what has ended is a success, and what is being stopped is not",
        arguments: [("inactive", true), ("failed", true), ("deactivating", false)])
    func thawOfInactive(state: String, isSuccess: Bool) throws {
        fake.answers = [
            "ThawUnit": Self.inactive, "GetUnit": .object("/a"), "ActiveState": .text(state),
            "FreezerState": .text("frozen"), "CanFreeze": .flag(true), "ControlGroup": .text(""),
        ]
        switch try result(of: { units.thaw(unit: "a.scope", completion: $0) }) {
        case .success: #expect(isSuccess)
        case .failure(let failure):
            #expect(!isSuccess)
            #expect(failure.errorName == UnitFailure.unitInactive)
        }
    }

    @Test("thawing what is not there is a success, and other refusals are not")
    func thawOfNothing() throws {
        fake.answers["ThawUnit"] = .refusal(UnitFailure.noSuchUnit, "Unit a not loaded.")
        var ends: [Bool] = []
        _ = try result { completion in
            units.thaw(unit: "a.service") { [fake, units] in
                if case .success = $0 { ends.append(true) }
                fake.answers["ThawUnit"] = .refusal("org.freedesktop.systemd1.UnitBusy", "Job.")
                units.thaw(unit: "a.service") {
                    if case .failure = $0 { ends.append(false) }
                    completion($0)
                }
            }
        }
        #expect(ends == [true, false])
    }

    @Test("a service is described with its watchdog")
    func describes() throws {
        fake.answers = [
            "GetUnit": .object("/a"), "ActiveState": .text("active"),
            "FreezerState": .text("running"), "CanFreeze": .flag(true),
            "ControlGroup": .text("/system.slice/a.service"), "WatchdogUSec": .number(20_000_000),
        ]
        let unit = try result { units.describe(unit: "a.service", completion: $0) }.get()
        #expect(unit.activeState == "active")
        #expect(unit.freezerState == "running")
        #expect(unit.canFreeze)
        #expect(unit.controlGroup == "/system.slice/a.service")
        #expect(unit.watchdogMicroseconds == 20_000_000)
        #expect(unit.hasWatchdog)
    }

    @Test(
        "a property that is missing or of another type makes no description",
        arguments: [FakeManager.Answer.number(1), .refusal("a.b", "no"), .nothing])
    func describesNothing(answer: FakeManager.Answer) throws {
        fake.answers = [
            "GetUnit": .object("/a"), "ActiveState": .text("active"), "CanFreeze": .flag(true),
            "ControlGroup": .text(""), "FreezerState": answer,
        ]
        _ = try failure { units.describe(unit: "a.scope", completion: $0) }
    }

    @Test("a completion may close the conversation, and each other call ends once")
    func closesInside() throws {
        fake.answers = ["FreezeUnit": .nothing, "KillUnit": .silence]
        var ends: [Int32] = []
        _ = try result { completion in
            units.kill(unit: "a", signal: 9) {
                if case .failure(let failure) = $0 { ends.append(failure.errno) }
            }
            units.freeze(unit: "a") { [units] in
                units.close()
                completion($0)
            }
        }
        #expect(ends == [ECANCELED])
    }
}
