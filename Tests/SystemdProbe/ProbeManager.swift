import Glibc
import Systemd

/// `unit MANAGER VERB UNIT`: one order to a service manager from a loop, and what came of it in one line.
///
/// MANAGER is `system`, `user` or the number of a user. `thaw-at-start` is the order that needs no loop.
enum ProbeManager {
    struct Usage: Error, CustomStringConvertible {
        let description = "systemd-probe unit MANAGER freeze|thaw|thaw-at-start|kill|describe UNIT"
    }

    static func run(_ words: [String]) throws -> Int32 {
        guard words.count == 3, let address = address(words[0]) else { throw Usage() }
        let (verb, unit) = (words[1], words[2])
        if verb == "thaw-at-start" {
            let failures = UnitManager.thaw([unit], at: address, within: .seconds(5))
            print(failures.first.map { "failed: \($0)" } ?? "done")
            return failures.isEmpty ? 0 : 1
        }
        let loop = try EventLoop()
        let units = UnitManager(at: address, loop: loop, limit: .seconds(5))
        func end(_ result: Result<Void, UnitFailure>) {
            switch result {
            case .success: print("done")
            case .failure(let failure): print("failed: \(failure)")
            }
            loop.exit((try? result.get()) == nil ? 1 : 0)
        }
        switch verb {
        case "freeze": units.freeze(unit: unit, completion: end)
        case "thaw": units.thaw(unit: unit, completion: end)
        case "kill": units.kill(unit: unit, signal: SIGUSR1, completion: end)
        case "describe":
            units.describe(unit: unit) { result in
                if case .success(let unit) = result { show(unit) }
                end(result.map { _ in })
            }
        default: throw Usage()
        }
        return try loop.run()
    }

    private static func address(_ word: String) -> ManagerAddress? {
        switch word {
        case "system": ManagerAddress(of: .system)
        case "user": ManagerAddress(of: .user)
        default:
            UInt32(word).map {
                ManagerAddress(path: "/run/user/\($0)/systemd/private", owner: $0)
            }
        }
    }

    private static func show(_ unit: UnitDescription) {
        print(
            unit.activeState, unit.freezerState, unit.canFreeze, unit.controlGroup,
            unit.watchdogMicroseconds)
    }
}
