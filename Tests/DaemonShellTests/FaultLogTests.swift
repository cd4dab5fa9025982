import BudgetCore
import DaemonShell
import Logging
import Synchronization
import Testing

@Suite("What must never happen, in the log and the counts")
struct FaultLogTests {
    /// What was logged.
    private final class Entries: Sendable {
        let all = Mutex<[(level: Logger.Level, message: String, metadata: Logger.Metadata)]>([])
    }

    private struct Handler: LogHandler {
        let entries: Entries
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(_ entries: Entries) { self.entries = entries }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            entries.all.withLock {
                $0.append((event.level, "\(event.message)", event.metadata ?? [:]))
            }
        }
    }

    @Test("is logged once with its state, and counted")
    func records() throws {
        let entries = Entries()
        let faults = FaultLog(Logger(label: "test") { _ in Handler(entries) })
        faults.record(Fault("startStored", state: "waiting", of: TaskID(rawValue: 7)))
        let entry = try #require(entries.all.withLock { $0.first })
        #expect(entries.all.withLock { $0.count } == 1 && faults.count == 1)
        #expect(entry.level == .critical && entry.message == DaemonMessage.fault.sentence)
        #expect(entry.metadata["BGTASK_REASON"] == "startStored")
        #expect(entry.metadata["BGTASK_STATE"] == "waiting" && entry.metadata["BGTASK_ID"] == "7")
        faults.record(Fault("the clock fell", state: "by 1 ns"))
        #expect(entries.all.withLock { $0.last?.metadata["BGTASK_ID"] } == nil && faults.count == 2)
    }

    @Test("a clock that falls is told of, and the instant stays")
    func clock() throws {
        let scene = try Scene()
        var performed: [Action] = []
        scene.core.connect(
            Core.Hooks(
                perform: { performed.append($0) },
                finish: { [core = scene.core] in core.perform() },
                arrange: {}, continueLater: {}))
        scene.clock.seconds = 5
        scene.core.turn {}
        scene.clock.seconds = 3
        scene.core.turn {}
        #expect(scene.second == 5)
        #expect(performed == [.fault(Fault("the clock fell", state: "by 2000000000 ns"))])
    }

    @Test("a reply that nobody waits for is told of")
    func reply() throws {
        let scene = try Scene()
        var performed: [Action] = []
        scene.core.connect(
            Core.Hooks(
                perform: { performed.append($0) }, finish: {}, arrange: {}, continueLater: {}))
        let caller = try scene.caller()
        caller.client.reply(CallFailure.invalid("a"))
        scene.core.perform()
        #expect(performed.isEmpty)
        caller.client.reply(CallFailure.invalid("a"))
        scene.core.perform()
        guard case .fault(let fault) = performed.first else {
            Issue.record("nothing is told")
            return
        }
        #expect(fault.event == "a reply that nobody waits for" && performed.count == 1)
    }
}
