import BudgetCore
import DaemonShell
import TestKit

// What happens to applications.
extension CrashHistory {
    /// The last two are one text for Unicode, and two ids.
    static let applications = ["player", "\u{E9}", "e\u{301}"]

    mutating func applicationEvent(on shell: Shell) throws {
        let other = CrashHistory.applications.randomElement(using: &random) ?? ""
        let key = ApplicationKey(
            owner: CrashHistory.owners[Int.random(in: 0..<2, using: &random)],
            id: chance(2) ? CrashHistory.applications[0] : other)
        // What could not be thawed is not adopted again, nor forgotten.
        guard shell.left[key] == nil else {
            return chance(2) ? activate(key, on: shell) : program(on: shell)
        }
        let running = shell.programs.keys.sorted().randomElement(using: &random)
        switch Int.random(in: 0..<42, using: &random) {
        case 0..<5: register(key, on: shell)
        case 5..<8: try setBadges(of: key, on: shell)
        case 8..<10: push(to: key, on: shell)
        case 10..<15: activate(key, on: shell)
        case 15..<25: try leave(running ?? key, on: shell)
        case 25:
            try? shell.core.update({ registry, now, actions throws(Refusal) in
                try registry.resign(key, at: now, &actions)
            })
        case 26..<28: terminate(running ?? key, on: shell)
        case 28..<31: unregister(key, on: shell)
        case 31..<36: try takeIn(key, on: shell)
        case 36..<38:
            _ = shell.core.update({ registry, now, actions in
                registry.memoryPressure(on: nil, count: 1, at: now, &actions)
            })
        default: program(on: shell)
        }
    }

    /// It leaves the front, and often is frozen.
    private mutating func leave(_ key: ApplicationKey, on shell: Shell) throws {
        try? shell.core.update({ registry, now, actions throws(Refusal) in
            try registry.enterBackground(key, at: now, &actions)
        })
        guard !chance(3) else { return }
        try shell.endTurn(launchesMax: 1)
        shell.pass(.seconds(2))
        try shell.endTurn(launchesMax: 1)
        if chance(2) { program(on: shell) }
    }

    /// A program does something, or what was ordered is done to it.
    mutating func program(on shell: Shell) {
        let ordered = shell.programs.filter(\.value.isOrdered).keys.sorted()
        let keys = ordered.isEmpty || chance(5) ? shell.programs.keys.sorted() : ordered
        guard let key = keys.randomElement(using: &random) else { return }
        let exits: [ProcessExit?] = [nil, nil, nil, .status(0), .status(3), .signal(.kill)]
        shell.advance(
            key, isWell: !chance(4), exits.randomElement(using: &random) ?? nil)
    }

    private mutating func register(_ key: ApplicationKey, on shell: Shell) {
        let number = shell.nextCall()
        let registration = someRegistration()
        do throws(Refusal) {
            try shell.core.update({ registry, now, actions throws(Refusal) in
                try registry.register(key, registration, number: number, at: now, &actions)
            })
        } catch {
            return shell.ledger.count("registration refused")
        }
        shell.ledger.applications.ordered(key, number, .register(registration))
        shell.ledger.count("registered")
    }

    private mutating func someRegistration() -> Registration {
        let command = ["play", "\(Int.random(in: 0..<1000, using: &random))"]
        var registration = Registration(command: chance(6) ? nil : command)
        registration.exitsOnSuspend = chance(6)
        registration.hasBackgroundMode = chance(6)
        if chance(3) { registration.handles = Callbacks([.didBecomeActive, .badgeChanged]) }
        guard chance(3) else { return registration }
        registration.directory = "/srv"
        registration.environment = ["A": "é\u{0}"]
        registration.profile = "default"
        registration.submitter = Submitter(
            name: "", groups: SubmitterGroups(primary: 7, supplementary: [8, 9]))
        return registration
    }

    /// A badge, and now and then the same again at once.
    private mutating func setBadges(of key: ApplicationKey, on shell: Shell) throws {
        let badge = Int.random(in: 0..<4, using: &random)
        try setBadge(of: key, badge, on: shell)
        while chance(4) { try setBadge(of: key, badge, on: shell) }
    }

    private func setBadge(of key: ApplicationKey, _ badge: Int, on shell: Shell) throws {
        let number = shell.nextCall()
        let waits: Bool
        do throws(Refusal) {
            waits = try shell.core.update({ registry, _, actions throws(Refusal) in
                try registry.setBadge(key, badge, number: number, &actions)
            })
        } catch {
            return
        }
        guard waits else { return try shell.ledger.applications.isSo(key, badge) }
        shell.ledger.applications.ordered(key, number, .badge(badge))
        shell.ledger.count("badge set")
    }

    private mutating func push(to key: ApplicationKey, on shell: Shell) {
        let number = shell.nextCall()
        let message = PushMessage(
            kind: chance(2) ? .alert : .silent, action: chance(2) ? .tapped : .none)
        let badge = chance(2) ? Int.random(in: 0..<4, using: &random) : nil
        if let badge { shell.ledger.applications.pushed(key, badge) }
        let receipt = try? shell.core.update({ registry, now, actions throws(Refusal) in
            try registry.push(key, message, badge: badge, number: number, at: now, &actions)
        })
        guard receipt?.waits == true else { return }
        shell.ledger.applications.ordered(key, number, .other)
    }

    private mutating func activate(_ key: ApplicationKey, on shell: Shell) {
        let number = shell.nextCall()
        let waits = try? shell.core.update({ registry, now, actions throws(Refusal) in
            try registry.activate(key, number: number, at: now, &actions)
        })
        if waits == true { shell.ledger.applications.ordered(key, number, .other) }
    }

    private mutating func terminate(_ key: ApplicationKey, on shell: Shell) {
        let number = shell.nextCall()
        let waits = try? shell.core.update({ registry, now, actions throws(Refusal) in
            try registry.terminate(key, number: number, at: now, &actions)
        })
        guard waits == true else { return }
        shell.ledger.applications.ordered(key, number, .other)
        shell.ledger.applications.terminateAsked(key)
    }

    private mutating func unregister(_ key: ApplicationKey, on shell: Shell) {
        let number = shell.nextCall()
        do throws(Refusal) {
            try shell.core.update({ registry, _, actions throws(Refusal) in
                try registry.unregister(key, number: number, &actions)
            })
        } catch {
            return
        }
        shell.ledger.applications.ordered(key, number, .forget)
        shell.ledger.count("unregistered")
    }

    /// Processes become an application, and often the disk knows at once.
    private mutating func takeIn(_ key: ApplicationKey, on shell: Shell) throws {
        adopt(key, on: shell)
        guard !chance(3) else { return }
        for _ in 0..<2 {
            try shell.endTurn(launchesMax: 1)
            try shell.advanceStore(tellsFirst: chance(2))
        }
    }

    /// Its processes live in a service of the system, a scope of its owner, or both.
    private mutating func adopt(_ key: ApplicationKey, on shell: Shell) {
        let number = shell.nextCall()
        let name = "\(key.id.utf8.count)"
        let service = AdoptedUnit(name: "\(key.owner)-\(name).service", user: nil)
        let scope = AdoptedUnit(name: "\(name).scope", user: key.owner.rawValue)
        let units = chance(3) ? [service, scope] : chance(2) ? [service] : [scope]
        do throws(Refusal) {
            try shell.core.update({ registry, _, actions throws(Refusal) in
                try registry.adopt(key, units: units, number: number, &actions)
            })
        } catch {
            return
        }
        shell.programs[key] = Shell.Program(units: units, isAdopted: true)
        shell.ledger.applications.ordered(key, number, .adopt(units))
        shell.ledger.count("adopted")
    }
}
