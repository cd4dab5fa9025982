import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

@Suite(
    "One user's flood and the history of the others",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct HistoryShareTests {
    private static let alice = TestUser.games
    private static let bob = TestUser.backup

    private func history(of client: VarlinkClient) throws -> [String] {
        (try client.ask(Tasks.History.self).tasks ?? []).map(\.name)
    }

    /// A daemon whose only slot is taken, with some tasks of bob's and root's that have ended.
    private func daemon(_ settings: String) throws -> DaemonProcess {
        let daemon = try DaemonProcess.forEverybody(
            .supervisor, settings: "queue.slots = 1\n" + settings)
        let root = try daemon.connect()
        _ = try root.submit(["sleep", "1000"])
        try root.submitAndCancel(10) { $0.name = "root's" }
        try daemon.connect(as: Self.bob).submitAndCancel(10) { $0.name = "bob's" }
        return daemon
    }

    private func expectOthersKept(_ daemon: DaemonProcess) throws {
        let bobs = try history(of: daemon.connect(as: Self.bob))
        #expect(bobs == Array(repeating: "bob's", count: 10))
        let roots = try history(of: daemon.connect())
        #expect(roots == Array(repeating: "root's", count: 10))
    }

    @Test("more tasks than historyMax remove that user's own, and nobody else's")
    func rows() throws {
        let daemon = try daemon("store.historyMax = 100")
        let alice = try daemon.connect(as: Self.alice)
        try alice.submitAndCancel(1500)
        let root = try daemon.connect()
        // It is looked through each hundred ends.
        try eventually("the history is within its bounds") {
            let all = try root.ask(Tasks.History.self) { $0.all = true }.tasks?.count ?? 0
            return all < 200
        }
        #expect(try (80..<180).contains(history(of: alice).count))
        try expectOthersKept(daemon)
    }

    @Test("more bytes than historyBytesMax remove that user's own, and the file stays within them")
    func bytes() throws {
        let daemon = try daemon("store.historyBytesMax = 1048576")
        let alice = try daemon.connect(as: Self.alice)
        try alice.submitAndCancel(1500) {
            $0.command = ["true", String(repeating: "x", count: 3900)]
            $0.environment = ["A": String(repeating: "y", count: 10_000)]
        }
        try eventually("the history is within its bounds") {
            try history(of: alice).count < 120
        }
        try expectOthersKept(daemon)
        #expect(try history(of: alice).count > 40)
        #expect(try daemon.stop() == .status(0))
        let size = Files.bytes(daemon.statePath + "/tasks.db").count
        #expect(size < 4 << 20, "\(size)")
    }

    @Test(
        "a folder that the kernel would not take is refused by its name, and leaves nothing on the disk"
    )
    func longFolder() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let alice = try daemon.connect(as: Self.alice)
        for length in [4096, 2_000_000] {
            let folder = "/" + String(repeating: "a", count: length - 1)
            let submission = try alice.refusal(of: Tasks.Submit.self) {
                $0.work.name = "long"
                $0.work.command = ["true"]
                $0.work.directory = folder
            }
            #expect(submission.refuses("work.directory"))
            let registration = try alice.refusal(of: Applications.Register.self) {
                $0.registration.id = "long"
                $0.registration.command = ["true"]
                $0.registration.directory = folder
            }
            #expect(registration.refuses("registration.directory"))
        }
        let longest = "/" + String(repeating: "a", count: 4094)
        let id = try alice.submit(["true"]) { $0.directory = longest }
        #expect(try alice.ended(id).outcome == .failed)
        #expect(try daemon.stop() == .status(0))
        #expect(Files.bytes(daemon.statePath + "/tasks.db").count < 1 << 20)
    }
}
