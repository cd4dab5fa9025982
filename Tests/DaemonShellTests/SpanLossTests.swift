import BudgetCore
import DaemonShell
import Glibc
import Logging
import Settings
import Systemd
import TaskStore
import Testing

@Suite("Spans of applications that find no room on their way to the disk")
struct SpanLossTests {
    private static func instant(_ seconds: Int64) -> Instant {
        Instant(nanoseconds: seconds * 1_000_000_000)
    }

    private static func owner(_ user: UInt32) -> OwnerID { OwnerID(rawValue: user) }

    @Test("those of a second are told together, once for each account")
    func burst() {
        var losses = SpanLosses()
        losses.add([:], at: Self.instant(1))
        #expect(losses.nextReport == nil)
        losses.add([Self.owner(8): 2], at: Self.instant(5))
        losses.add([Self.owner(7): 10, Self.owner(8): 3], at: Self.instant(6))
        #expect(losses.nextReport == Self.instant(6))
        let told = losses.takeReport()
        #expect(told.map(\.account) == [Self.owner(7), Self.owner(8)])
        #expect(told.map(\.count) == [10, 5])
        #expect(losses.nextReport == nil)
        losses.add([Self.owner(8): 1], at: Self.instant(6))
        #expect(losses.nextReport == Self.instant(7))
    }

    @Test("are counted, and the journal has one entry that says whose they were and how many")
    func told() throws {
        let folder = StateFolder()
        let opened = try OpenedStore(inFolder: folder.path, Settings())
        let thread = try StoreThread(opened, bounds: HistoryBounds(countMax: 10, ageMax: nil))
        defer { _ = thread.close(used: TaskID(rawValue: 1)) }
        let scene = try Scene()
        scene.core.connect(
            Core.Hooks(perform: { _ in }, finish: {}, arrange: {}, continueLater: {}))
        let entries = Entries([.owner, .reason], separator: ": ")
        let store = Persistence(scene.core, thread, Logger(label: "test") { _ in entries })
        // All at once, so that the disk has no say in it.
        let count = WaitingSpans.countMax + 1
        thread.keep(
            (1...UInt64(count)).map { number in
                StoredSpan(
                    number: number, key: ApplicationKey(owner: Self.owner(1000), id: "player"),
                    state: .active, beganAt: WallTime(microseconds: 0),
                    endedAt: WallTime(microseconds: 1))
            })
        let lost = count - WaitingSpans.countLeft
        #expect(thread.statistics().droppedSpans == lost)
        scene.clock.seconds = 5
        scene.core.turn { store.takeProgress() }
        scene.core.turn { store.deadlineReached() }
        #expect(store.nextDeadline == Self.instant(6) && entries.all.isEmpty)
        scene.clock.seconds = 6
        for _ in 0..<2 { scene.core.turn { store.deadlineReached() } }
        #expect(
            entries.all == [
                "past states of applications are lost 1000: "
                    + "\(lost) spans, since too many waited for the disk"
            ])
        #expect(thread.statistics().droppedSpans == lost)
    }
}
