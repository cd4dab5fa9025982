import Glibc
import LinuxSystem
import TestKit
import Testing

extension LinuxTests {
    @Suite("What is removed by processes of their own")
    struct RemoverTests {
        /// Sees to it that what waits is removed, as a loop does.
        private func removeAll(
            _ remover: NameRemover, _ maker: CloserProcess.Maker, until isDone: () -> Bool
        ) throws {
            while !isDone() {
                if remover.lacksProcess { try maker.make(for: remover) }
                poll(nil, 0, 1)
            }
        }

        @Test(
            "names are free at once, and folders go with the folders and sockets in them, nothing else"
        )
        func names() throws {
            let folder = try TemporaryFolder()
            let maker = try CloserProcess.Maker()
            let remover = try NameRemover()
            let path = folder.path + "/some"
            for _ in 1...3 {
                try systemCall("mkdir", path) { mkdir(path, 0o755) }
                mkdir(path + "/below", 0o755)
                mkdir(path + "/below/it", 0o755)
                let socket = OwnedDescriptor(
                    Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0))
                let descriptor = socket.rawValue
                let error = withSocketAddress(path + "/below/socket") {
                    bind(descriptor, $0, $1)
                }
                #expect(error == 0)
                try remover.remove(path)
                #expect(access(path, F_OK) != 0)
            }
            let kept = folder.path + "/kept"
            mkdir(kept, 0o755)
            let file = try OwnedDescriptor.open(
                kept + "/file", flags: O_WRONLY | O_CREAT, mode: 0o600)
            try remover.remove(kept)
            try remover.remove(folder.path + "/missing")
            try removeAll(remover, maker) {
                (try? LinuxSystem.names(inFolder: folder.path))?.count == 1
            }
            let left = try LinuxSystem.names(inFolder: folder.path)
            #expect(left.first?.hasPrefix("kept.removed-") == true)
            #expect(try LinuxSystem.names(inFolder: "\(folder.path)/\(left[0])") == ["file"])
            #expect(remover.end(milliseconds: Int32(Harness.millisecondsMax)))
            withExtendedLifetime(file) {}
        }

        @Test("those with nothing to do end, and nothing is kept of them")
        func idle() throws {
            let folder = try TemporaryFolder()
            let maker = try CloserProcess.Maker()
            let remover = try NameRemover()
            #expect(remover.nextLook == nil)
            let path = folder.path + "/some"
            try systemCall("mkdir", path) { mkdir(path, 0o755) }
            try remover.remove(path)
            // As where the first is slow.
            try maker.make(for: remover)
            try maker.make(for: remover)
            let deadline = MonotonicClock.now() + Harness.millisecondsMax * 1_000_000
            while try !LinuxSystem.names(inFolder: folder.path).isEmpty {
                try #require(MonotonicClock.now() < deadline)
                poll(nil, 0, 1)
            }
            // It has them, whether they have ended or not, until it looks.
            #expect(remover.nextLook != nil)
            while let pause = remover.nextLook, MonotonicClock.now() < deadline {
                poll(nil, 0, Int32(pause))
                _ = remover.lacksProcess
            }
            #expect(remover.nextLook == nil)
        }

        @Test(
            "those that are held up hold up no others, and go when they are let go",
            .enabled(if: HeldMount.refusal == nil, "\(HeldMount.refusal ?? "")"))
        func held() throws {
            let folder = try TemporaryFolder()
            let maker = try CloserProcess.Maker()
            let remover = try NameRemover()
            var mounts: [HeldMount] = []
            for number in 1...5 {
                let path = "\(folder.path)/\(number)"
                try systemCall("mkdir", path) { mkdir(path, 0o755) }
                if number < 5 { mounts.append(try HeldMount(on: path)) }
                try remover.remove(path)
            }
            try removeAll(remover, maker) {
                (try? LinuxSystem.names(inFolder: folder.path))?.isEmpty == true
            }
            #expect(!remover.end(milliseconds: 50))
            mounts = []
        }
    }
}
