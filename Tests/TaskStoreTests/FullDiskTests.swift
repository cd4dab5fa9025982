import BudgetCore
import Glibc
import TaskStore
import Testing

/// A file system in memory that holds little.
private final class SmallDisk {
    let folder: Folder

    init() throws {
        folder = try Folder()
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=1m") == 0 else {
            throw Folder.Failure(what: "mount", errno: errno)
        }
    }

    func remount(readOnly: Bool) -> Int32 {
        let flags = UInt(MS_REMOUNT) | (readOnly ? UInt(MS_RDONLY) : 0)
        return mount("tmpfs", folder.path, "tmpfs", flags, "size=1m") == 0 ? 0 : errno
    }

    deinit {
        umount2(folder.path, Int32(MNT_DETACH))
    }

    /// Why none can be had here; `nil` where it can.
    static let refusal: String? = {
        do {
            _ = try SmallDisk()
            return nil
        } catch let failure as Folder.Failure {
            return String(cString: strerror(failure.errno))
        } catch {
            return "\(error)"
        }
    }()
}

@Suite(
    .enabled(
        if: SmallDisk.refusal == nil, "no file system can be mounted: \(SmallDisk.refusal ?? "")"))
struct FullDiskTests {
    private func changes(_ round: UInt64) -> [StoreChange] {
        (UInt64(1)...10).map { number in
            var task = Samples.task(round * 10 + number)
            task.work.environment = ["A": String(repeating: "x", count: 3000)]
            return .submitted(task)
        }
    }

    @Test("a full disk refuses what does not fit, keeps what did, and goes on when there is room")
    func full() throws {
        let disk = try SmallDisk()
        let filler = disk.folder.path + "/filler"
        try Folder.write([UInt8](repeating: 1, count: 640_000), to: filler)
        let store = try disk.folder.open()
        var rounds = UInt64(0)
        var refusal: StoreError?
        while refusal == nil, rounds < 100 {
            do throws(StoreError) {
                try store.apply(changes(rounds))
                rounds += 1
            } catch {
                refusal = error
            }
        }
        #expect(refusal?.cause == .diskFull)
        #expect(rounds > 2 && rounds < 100)
        #expect(try store.live().count == Int(rounds) * 10)
        // It writes a page, for which there may be room.
        #expect(throws: StoreError.self) { try store.probe() }
        unlink(filler)
        try store.probe()
        try store.apply(changes(rounds))
        #expect(try store.live().count == Int(rounds) * 10 + 10)
        try store.close()
        #expect(try disk.folder.open().live().count == Int(rounds) * 10 + 10)
    }

    @Test("a full disk refuses a new store in one line")
    func fullAtStart() throws {
        let disk = try SmallDisk()
        try? Folder.write(
            [UInt8](repeating: 1, count: 1 << 20), to: disk.folder.path + "/filler")
        #expect(disk.folder.refusal()?.cause == .diskFull)
    }

    @Test("a file system that is read-only refuses a store in one line")
    func readOnly() throws {
        let disk = try SmallDisk()
        try disk.folder.open().apply(changes(1))
        #expect(disk.remount(readOnly: true) == 0)
        let error = disk.folder.refusal()
        #expect(error?.cause == .readOnly, "\(error?.description ?? "")")
        #expect(disk.remount(readOnly: false) == 0)
        #expect(try disk.folder.open().live().count == 10)
    }
}
