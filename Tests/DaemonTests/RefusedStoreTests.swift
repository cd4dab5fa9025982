import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("A daemon that cannot use the store it finds")
struct RefusedStoreTests {
    /// A folder with a store in it, of a daemon that has stopped.
    private func folderWithStore() throws -> TemporaryFolder {
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1")
        try fill(daemon)
        return daemon.folder
    }

    /// Leaves an ended task and some that wait.
    private func fill(_ daemon: DaemonProcess) throws {
        let client = try daemon.connect()
        _ = try client.ended(client.submit(["true"]))
        for _ in 0..<3 {
            _ = try client.submit(
                ["sleep", "1000"], { $0.budget = Tasks.Budget(ms: 180_000, grace: 170_000) })
        }
        #expect(try daemon.stop() == .status(0))
    }

    /// Starts a daemon there, which says why it does not serve, and changes nothing.
    private func refusal(in folder: TemporaryFolder) throws -> String {
        let state = folder.path + "/state"
        let before = Files.bytes(state + "/tasks.db")
        let error = folder.path + "/refusal"
        unlink(error)
        let child = try Child(
            DaemonProcess.program,
            [
                "--config", folder.path + "/bgtaskd.toml", "--socket", folder.path + "/socket",
                "--state-dir", state,
            ], error: error)
        #expect(try child.waitForEnd() == .status(73))
        let said = Files.text(error)
        #expect(said.hasPrefix("bgtaskd: cannot use the st"), "\(said)")
        #expect(said.hasSuffix("\n") && said.filter(\.isNewline).count == 1, "\(said)")
        #expect(Files.bytes(state + "/tasks.db") == before)
        #expect(
            Set(Files.names(state)).isSubset(
                of: ["executor", "lock", "output.db", "tasks.db"]))
        return said
    }

    /// Changes bytes of the database.
    private func write(_ bytes: [UInt8], at offset: Int, in folder: TemporaryFolder) throws {
        let path = folder.path + "/state/tasks.db"
        let file = open(path, O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        try #require(pwrite(file, bytes, bytes.count, offset) == bytes.count)
    }

    @Test("a damaged database is refused, and left as it is", arguments: [0, 16, 100, 8000])
    func damaged(offset: Int) throws {
        let folder = try folderWithStore()
        let size = Files.bytes(folder.path + "/state/tasks.db").count
        // From some way into the file on, nothing is what it was.
        let count = offset == 8000 ? size - offset : 60
        try write([UInt8](repeating: 0xA5, count: count), at: offset, in: folder)
        let said = try refusal(in: folder)
        #expect(said.contains(folder.path + "/state/tasks.db"))
        #expect(said.contains("move the file away"), "\(said)")
    }

    @Test("a database of another program is refused")
    func foreign() throws {
        let folder = try folderWithStore()
        // PRAGMA application_id (sqlite.org, Database File Format).
        try write([0, 0, 0, 9], at: 68, in: folder)
        #expect(try refusal(in: folder).contains("a database of another program; move it away"))
    }

    @Test("a database of a later version is refused")
    func newer() throws {
        let folder = try folderWithStore()
        // PRAGMA user_version.
        let layout = Array(Files.bytes(folder.path + "/state/tasks.db")[60..<64])
        try write([0, 0, 3, 231], at: 60, in: folder)
        let said = try refusal(in: folder)
        #expect(said.contains("written by a later bgtaskd (layout 999"))
        // What refused it has not spoilt it for the daemon that wrote it.
        try write(layout, at: 60, in: folder)
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1", in: folder)
        #expect(try daemon.connect().ask(Tasks.History.self).tasks?.isEmpty == false)
    }

    @Test(
        "a folder that takes no writing is refused, and served when it does",
        .enabled(
            if: SmallDisk.refusal == nil,
            "no file system can be mounted: \(SmallDisk.refusal ?? "")"))
    func readOnly() throws {
        let disk = try SmallDisk()
        try fill(DaemonProcess(.supervisor, settings: "queue.slots = 1", in: disk.folder))
        try disk.remount(readOnly: true)
        #expect(try refusal(in: disk.folder).contains("Read-only file system"))
        try disk.remount(readOnly: false)
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1", in: disk.folder)
        #expect(try daemon.connect().ask(Tasks.History.self).tasks?.isEmpty == false)
    }

    @Test(
        "a full disk at the start is refused, and served when there is room",
        .enabled(
            if: SmallDisk.refusal == nil,
            "no file system can be mounted: \(SmallDisk.refusal ?? "")"))
    func full() throws {
        let disk = try SmallDisk()
        try fill(DaemonProcess(.supervisor, settings: "queue.slots = 1", in: disk.folder))
        try disk.fill()
        let child = try Child(
            DaemonProcess.program,
            [
                "--config", disk.folder.path + "/bgtaskd.toml", "--socket",
                disk.folder.path + "/socket", "--state-dir", disk.folder.path + "/state",
            ], error: disk.folder.path + "/refusal")
        #expect(try child.waitForEnd() == .status(73))
        let said = Files.text(disk.folder.path + "/refusal")
        #expect(said.contains("No space left") || said.contains("no space left"), "\(said)")
        #expect(said.filter(\.isNewline).count == 1, "\(said)")
        disk.makeRoom()
        let daemon = try DaemonProcess(.supervisor, settings: "queue.slots = 1", in: disk.folder)
        #expect(try daemon.connect().ask(Tasks.History.self).tasks?.isEmpty == false)
    }
}
