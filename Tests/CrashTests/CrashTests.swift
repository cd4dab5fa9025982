import Glibc
import TestKit
import Testing

/// Nothing is lost, and nothing runs twice, wherever the daemon is stopped (docs/architecture.md, faults).
@Suite("Stopped between any two actions and in any step of the store")
struct CrashTests {
    /// Seeds of one argument, among which all that is tried comes about.
    private static let block: UInt64 = 30

    @Test(
        "what was answered, run and told stays true over all restarts",
        arguments: 0..<Effort.choose(10, 340))
    func histories(number: UInt64) throws {
        var counts: [String: Int] = [:]
        for seed in number * Self.block..<(number + 1) * Self.block {
            var history = try CrashHistory(seed: seed)
            let failure = history.run(events: 150)
            #expect(failure == nil, "seed \(seed)")
            if failure != nil { return }
            counts.merge(history.ledger.counts, uniquingKeysWith: +)
        }
        // What is never tried is never shown.
        for what in Self.tried { #expect(counts[what] ?? 0 > 0, "\(what) in \(counts)") }
        if getenv("BGTASK_CRASH_COUNTS") != nil { print(counts.sorted { $0.key < $1.key }) }
    }

    /// What each of the arguments must have come to.
    private static let tried = [
        "started", "not started", "stopped in a store step", "stopped between actions",
        "orderly stops", "power cuts", "taken in", "refused", "withdrawn", "launched",
        "told in vain", "completed", "failed", "expired", "cancelled", "interrupted",
        "launched again", "tried again after failed", "tried again after interrupted",
        "coalesced", "replaced", "cancel kept", "paused", "resumed", "slept", "clock set",
        "healed", "disk silent", "registered", "unregistered", "adopted", "badge set", "suspended",
        "found frozen",
        "applications cut off", "ended as exited", "ended as terminated", "spans found open",
        "spans found cut",
    ]
}
