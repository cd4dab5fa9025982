import BudgetCore
import TaskStore
import TestKit

// Applications to store, some of them odd.
extension Samples {
    static func key(_ id: String, owner: UInt32 = 1000) -> ApplicationKey {
        ApplicationKey(owner: OwnerID(rawValue: owner), id: id)
    }

    /// A plain application.
    static func application(_ id: String, owner: UInt32 = 1000) -> StoredApplication {
        StoredApplication(
            key: key(id, owner: owner), registration: Registration(command: ["player", "--quiet"]))
    }

    /// The key of some application, of which there are few.
    static func key(using random: inout SeededGenerator) -> ApplicationKey {
        let ids = ["", "org.example.player", "日本 \u{1F600}", "x'y\"z\n\u{0}"]
        return key(
            ids.randomElement(using: &random) ?? "",
            owner: [0, 1000, .max].randomElement(using: &random) ?? 0)
    }

    /// An application with something in every field, or with nothing where nothing is allowed.
    static func application(
        _ key: ApplicationKey, using random: inout SeededGenerator
    ) -> StoredApplication {
        let units = [
            AdoptedUnit(name: "player@1.service", user: nil),
            AdoptedUnit(name: "app-é.scope", user: .max), AdoptedUnit(name: "", user: 0),
        ]
        return StoredApplication(
            key: key,
            registration: registration(using: &random),
            badge: [0, 7, 1 << 40].randomElement(using: &random) ?? 0,
            isRunning: Bool.random(using: &random),
            run: [nil, 1, UInt64(Int64.max)].randomElement(using: &random) ?? nil,
            units: units.filter { _ in Bool.random(using: &random) },
            lastTermination: Bool.random(using: &random) ? termination(using: &random) : nil)
    }

    private static func registration(using random: inout SeededGenerator) -> Registration {
        var registration = Registration(
            command: [nil, [], ["player"], ["/bin/sh", "-c", "\u{0}\u{1F}\"\\", ""]]
                .randomElement(using: &random) ?? nil)
        if Bool.random(using: &random) { registration.directory = "/home/é" }
        if Bool.random(using: &random) {
            registration.environment = ["A": "", "B=": "\n", "PATH": "/bin"]
        }
        registration.exitsOnSuspend = Bool.random(using: &random)
        registration.hasBackgroundMode = Bool.random(using: &random)
        if Bool.random(using: &random) { registration.profile = "extended" }
        let masks: [UInt16?] = [nil, 0, .random(in: 0...Callbacks.all.rawValue, using: &random)]
        registration.handles =
            masks.randomElement(using: &random)?.map(Callbacks.init(rawValue:)) ?? nil
        registration.submitter = submitter(using: &random)
        return registration
    }

    private static func termination(using random: inout SeededGenerator) -> StoredTermination {
        let exits: [ProcessExit?] = [nil, .status(0), .status(255), .signal(.kill)]
        let held = (0..<3).map { number in
            HeldTask(
                id: TaskID(rawValue: UInt64(Int64.max) - number), name: "sync \"\(number)\" é",
                age: .milliseconds(Int.random(in: 0..<600_000, using: &random)),
                duration: Bool.random(using: &random) ? .seconds(180) : nil,
                grace: Bool.random(using: &random) ? .milliseconds(1501) : nil)
        }
        return StoredTermination(
            at: time(Int.random(in: -5...5, using: &random)),
            reason: TerminationReason.allCases.randomElement(using: &random) ?? .exited,
            exit: exits.randomElement(using: &random) ?? nil,
            held: held.filter { _ in Bool.random(using: &random) },
            background: Bool.random(using: &random) ? .milliseconds(178_017) : nil)
    }
}
