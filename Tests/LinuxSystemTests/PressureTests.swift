import Foundation
import LinuxSystem
import Testing

extension LinuxTests {
    /// Where memory pressure is seen, and how it is told.
    @Suite struct PressureTests {
        private static let kernelFile = "/proc/pressure/memory"
        private static let hasPressure = (try? contents(of: kernelFile))?.isEmpty == false
        /// `some 200000 2000000` and a NUL, as systemd writes it.
        private static let trigger = "c29tZSAyMDAwMDAgMjAwMDAwMAA="

        private func isReady(_ watch: PressureWatch, milliseconds: Int32 = 0) throws -> Bool {
            let epoll = try Epoll()
            var batch = EpollBatch(capacity: 1)
            try epoll.add(#require(watch.descriptor), watch.readiness, token: 1)
            try epoll.wait(into: &batch, milliseconds: milliseconds)
            return batch.count > 0
        }

        private func reason(_ watch: PressureWatch) -> String {
            if case .memAvailable(let reason) = watch.source { reason } else { "\(watch.source)" }
        }

        @Test("a FIFO that the service manager names tells pressure, and is emptied")
        func fifo() throws {
            let folder = try TemporaryFolder()
            let path = folder.path + "/file"
            #expect(mkfifo(path, 0o600) == 0)
            let watch = PressureWatch(watch: path, write: Self.trigger)
            #expect(watch.source == .environment(path: path))
            #expect(watch.readiness == .input)
            #expect(try !isReady(watch))
            let writer = try OwnedDescriptor.open(path, flags: O_WRONLY)
            for _ in 0..<2 {
                try writeText("pressure", of: writer.rawValue, path)
                #expect(try isReady(watch, milliseconds: 60_000))
                #expect(watch.acknowledge())
                #expect(try !isReady(watch))
            }
        }

        @Test(
            "a socket is told what the service manager wants, and a peer that hangs up is noticed")
        func socket() throws {
            let folder = try TemporaryFolder()
            let path = folder.path + "/socket"
            let listener = OwnedDescriptor(Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0))
            let address = try UnixAddress(path: path)
            #expect(address.withPointer { bind(listener.rawValue, $0, $1) } == 0)
            #expect(listen(listener.rawValue, 1) == 0)

            let watch = PressureWatch(watch: path, write: Self.trigger)
            #expect(watch.source == .environment(path: path))
            let peer = OwnedDescriptor(accept(listener.rawValue, nil, nil))
            try peer.setNonBlocking()
            #expect(try readAvailable(peer) == "some 200000 2000000\0")
            #expect(try !isReady(watch))
            try writeText("x", of: peer.rawValue, path)
            #expect(try isReady(watch, milliseconds: 60_000))
            #expect(watch.acknowledge())
            #expect(shutdown(peer.rawValue, Int32(SHUT_RDWR)) == 0)
            #expect(try isReady(watch, milliseconds: 60_000))
            #expect(!watch.acknowledge())
        }

        @Test(
            "the kernel takes our trigger, and the service manager's",
            .enabled(if: hasPressure, "this kernel counts no pressure"))
        func kernel() throws {
            let own = PressureWatch(watch: nil, write: nil)
            switch own.source {
            case .cgroup(let path): #expect(path.hasSuffix("/memory.pressure"))
            case .system(let path): #expect(path == Self.kernelFile)
            default: Issue.record("\(own.source)")
            }
            let named = PressureWatch(watch: Self.kernelFile, write: Self.trigger)
            #expect(named.source == .environment(path: Self.kernelFile))
            for watch in [own, named] {
                #expect(watch.readiness == .priority)
                _ = try isReady(watch)
                #expect(watch.acknowledge())
            }
        }

        @Test(
            "without a group there is the machine's pressure",
            .enabled(if: hasPressure, "this kernel counts no pressure"))
        func machine() throws {
            let root = try FakeRoot()
            try root.link(Self.kernelFile)
            let watch = PressureWatch(watch: nil, write: nil, root: root.path)
            #expect(watch.source == .system(path: root.path + Self.kernelFile))
            #expect(watch.acknowledge())
        }

        @Test(
            "a group's pressure comes first, and its removal is noticed",
            .enabled(if: hasPressure && ScratchSlice.canBeMade, "a group is made by root"))
        func group() throws {
            let slice = try ScratchSlice()
            let folder = slice.folder + "/x.service"
            try makeFolders(folder, mode: 0o755)
            let root = try FakeRoot()
            try root.link(Self.kernelFile)
            try root.link(folder)
            try root.write(
                "1 2 0:3 / \(slice.folder) rw - cgroup2 cgroup2 rw\n", to: "proc/self/mountinfo")
            try root.write("0::/x.service\n", to: "proc/self/cgroup")
            let watch = PressureWatch(watch: nil, write: nil, root: root.path)
            #expect(watch.source == .cgroup(path: root.path + folder + "/memory.pressure"))
            #expect(watch.acknowledge())
            #expect(rmdir(folder) == 0)
            #expect(try isReady(watch, milliseconds: 60_000))
            #expect(!watch.acknowledge())
        }

        @Test("how high it is can be read where the kernel tells it, and nowhere else")
        func level() throws {
            let root = try FakeRoot()
            let files = try #require(PressureWatch.files(watch: nil, root: root.path))
            let machine = root.path + Self.kernelFile
            #expect(files == PressureWatch.Files(group: nil, machine: machine))
            #expect(MemoryPressure(path: machine) == nil)
            let text = "some avg10=12.34 avg60=0.00\nfull avg10=1.05 avg60=0.00\n"
            try root.write(text, to: "proc/pressure/memory")
            #expect(MemoryPressure(path: machine)?.some == 1234)
            #expect(MemoryPressure(path: machine)?.full == 105)
            // What the service manager has named comes first, and may be no file of the kernel's.
            let pipe = root.path + "/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            #expect(PressureWatch.files(watch: pipe, root: root.path)?.group == pipe)
            #expect(MemoryPressure(path: pipe) == nil)
            #expect(PressureWatch.files(watch: machine, root: root.path)?.group == nil)
            #expect(PressureWatch.files(watch: "/dev/null", root: root.path) == nil)
        }

        @Test("where nothing can be waited for, it is said why, and the memory is read")
        func fallback() throws {
            let root = try FakeRoot()
            let watch = PressureWatch(watch: nil, write: nil, root: root.path)
            #expect(watch.descriptor == nil)
            #expect(!watch.acknowledge())
            #expect(reason(watch).contains("/proc/self/mountinfo"))
            #expect(reason(watch).contains("/proc/pressure/memory: No such file"))
            #expect("\(watch.source)".hasPrefix("the machine's available memory (open "))
            #expect(throws: SystemError.self) { try watch.availableShare() }
            try root.write("MemTotal: 1000 kB\nMemFree: 5 kB\n", to: "proc/meminfo")
            #expect(throws: SystemError.self) { try watch.availableShare() }
            try root.write("MemTotal: 1000 kB\nMemAvailable:   250 kB\n", to: "proc/meminfo")
            #expect(
                try watch.availableShare()
                    == PressureWatch.AvailableMemory(available: 256_000, total: 1_024_000))
            let own = try PressureWatch(watch: "/dev/null", write: nil).availableShare()
            #expect(own.available > 0 && own.available <= own.total)
        }

        @Test("what the service manager names and cannot be watched is said")
        func unusable() throws {
            let folder = try TemporaryFolder()
            let path = folder.path + "/file"
            #expect(reason(PressureWatch(watch: path, write: nil)).contains("No such file"))
            try Data("some avg10=0.00\n".utf8).write(to: URL(fileURLWithPath: path))
            #expect(reason(PressureWatch(watch: path, write: nil)).contains("cannot be waited for"))
            #expect(reason(PressureWatch(watch: "/dev/zero", write: nil)).contains("no file, FIFO"))
            let odd = PressureWatch(watch: Self.kernelFile, write: "c29t!")
            #expect(reason(odd).contains("no base64"))
            guard Self.hasPressure else { return }
            // A window of 1 µs.
            let refused = PressureWatch(watch: Self.kernelFile, write: "c29tZSAxIDEA")
            #expect(reason(refused).contains("Invalid argument"))
        }

        @Test("/dev/null means that nobody watches")
        func off() {
            let watch = PressureWatch(watch: "/dev/null", write: Self.trigger)
            #expect(watch.source == .off)
            #expect(watch.descriptor == nil)
            #expect("\(watch.source)".contains("switched off"))
        }

        @Test(
            "base64 is read as RFC 4648 has it",
            arguments: [
                ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"),
                ("Pj4/", ">>?"), ("fn5+", "~~~"), ("Zg", nil), ("Zg=", nil), ("Z===", nil),
                ("Zg==Zg==", nil), ("Zm 9", nil), ("=g==", nil),
            ] as [(String, String?)])
        func base64(text: String, plain: String?) {
            #expect(decodeBase64(text) == plain.map { Array($0.utf8) })
        }
    }
}

/// A folder that stands for /.
private final class FakeRoot {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("pressure-test-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ text: String, to file: String) throws {
        let url = URL(fileURLWithPath: path + "/" + file)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Has a path lead to the machine's own.
    func link(_ file: String) throws {
        let url = URL(fileURLWithPath: path + file)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: file)
    }
}
