import CExecutor
import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// bgtask-executor as a service manager starts it.
    @Suite(.enabled(if: Kind.refusal == nil && geteuid() == 0, "delegating a group needs root"))
    struct ExecutorServiceTests {
        /// What a service tells its manager.
        private final class Notices {
            let path: String
            private let socket: Int32
            private var heard: [String] = []

            /// - Parameter path: begins with @ where no file stands for it.
            init(_ path: String) throws {
                self.path = path
                socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                withUnsafeMutableBytes(of: &address.sun_path) { bytes in
                    bytes.copyBytes(from: path.utf8)
                    if path.hasPrefix("@") { bytes[0] = 0 }
                }
                let length = MemoryLayout<sa_family_t>.size + path.utf8.count
                let bound = withUnsafePointer(to: &address) { pointer in
                    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        bind(socket, $0, socklen_t(length))
                    }
                }
                try #require(bound == 0)
            }

            deinit {
                close(socket)
                if path.hasPrefix("/") { unlink(path) }
            }

            /// Waits until it has said that, after what was waited for before.
            func wait(_ notice: String) throws {
                while true {
                    var bytes = [UInt8](repeating: 0, count: 256)
                    var readable = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                    guard poll(&readable, 1, Int32(Harness.millisecondsMax)) > 0 else {
                        throw SystemError(operation: "wait", errno: ETIMEDOUT, subject: notice)
                    }
                    let length = recv(socket, &bytes, bytes.count, 0)
                    try #require(length > 0)
                    if String(decoding: bytes[..<length], as: UTF8.self) == notice { return }
                }
            }
        }

        @Test(
            "it moves into a leaf of its group, has its commands beside it, and tells how it is",
            arguments: ["", "/executor"], [true, false])
        func service(start: String, isAbstract: Bool) throws {
            let group = try DelegatedGroup()
            if !start.isEmpty { mkdir(group.folder + start, 0o755) }
            let folder = try TemporaryFolder()
            let name = folder.path + "/notices"
            let notices = try Notices(isAbstract ? "@" + name : name)
            let peer = try ExecutorPeer(
                service: .init(
                    group: group.folder + start,
                    environment: ["NOTIFY_SOCKET=\(notices.path)", "WATCHDOG_USEC=20000"]))
            for notice in ["READY=1", "WATCHDOG_USEC=20000", "WATCHDOG=1"] {
                try notices.wait(notice)
            }
            #expect(try group.processes() == [])
            // It, and what closes, reads and removes for it.
            let own = try group.processes(in: "/executor")
            #expect(own.count <= 4 && own.contains("\(peer.processID)"))
            #expect(try peer.start(1, ExecutorWork("sleep", "1000")) == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: 1).record
            let place = "/commands/command-\(started.place)"
            #expect(try group.processes(in: place) == ["\(started.pid)"])
            // It is not watched while one lives.
            try notices.wait("WATCHDOG_USEC=0")
            try notices.wait("STATUS=Commands: 1")
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            try notices.wait("WATCHDOG_USEC=20000")
            try notices.wait("WATCHDOG=1")
            #expect(try peer.start(2, ExecutorWork("sleep", "1000")) == 0)
            try notices.wait("WATCHDOG_USEC=0")
            kill(peer.processID, SIGTERM)
            try notices.wait("STOPPING=1")
            #expect(peer.end() == 0)
        }

        @Test("a stop takes as long as its commands may")
        func extended() throws {
            let group = try DelegatedGroup()
            let folder = try TemporaryFolder()
            let notices = try Notices(folder.path + "/notices")
            let peer = try ExecutorPeer(
                service: .init(
                    group: group.folder, environment: ["NOTIFY_SOCKET=\(notices.path)"]))
            let script = "trap 'echo warned' TERM; echo ready; while :; do sleep 0.05; done"
            var (started, text) = try peer.startReady(
                1, ExecutorWork(script: script), graceSeconds: 600)
            kill(peer.processID, SIGTERM)
            try started.read(into: &text, until: "warned")
            try notices.wait("STOPPING=1")
            try notices.wait("EXTEND_TIMEOUT_USEC=15000000")
            #expect(try peer.code(EXECUTOR_KILL, 1) == 0)
            #expect(peer.end() == 0)
        }

        @Test("what it is told by its manager does not reach the commands")
        func environment() throws {
            let group = try DelegatedGroup()
            let peer = try ExecutorPeer(
                service: .init(
                    group: group.folder, environment: ["WATCHDOG_PID=1", "WATCHDOG_USEC=1"]))
            let read = try contents(of: "/proc/\(peer.processID)/environ")
            #expect(!read.isEmpty)
            #expect(try peer.start(1, ExecutorWork("env")) == 0)
            let started = try peer.wait(EXECUTOR_STARTED, of: 1)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            #expect(try started.text() == "PATH=/usr/bin:/bin\n")
        }

        @Test("it does not start in a group that is another's")
        func foreign() throws {
            let group = try DelegatedGroup()
            let below = group.folder + "/below"
            mkdir(below, 0o755)
            let peer = try ExecutorPeer(service: .init(group: below), connects: false)
            #expect(peer.end() == 71 << 8)
            rmdir(below)
        }
    }

    /// What an executor keeps on disk.
    @Suite(.enabled(if: Kind.refusal == nil)) struct ExecutorStateTests {
        @Test("a folder of ends has one executor")
        func locked() throws {
            let peer = try ExecutorPeer()
            let other = try peer.spawn(patience: 60)
            var status: Int32 = 0
            waitpid(other, &status, 0)
            #expect(status == 71 << 8)
            #expect(try peer.start(1, ExecutorWork("true")) == 0)
        }

        @Test("a file of ends that no executor has written is put aside")
        func damaged() throws {
            let peer = try ExecutorPeer()
            #expect(try peer.start(1, ExecutorWork("true")) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            kill(peer.processID, SIGTERM)
            _ = peer.end()
            let path = peer.stateFolder + "/ends"
            var status = stat()
            try #require(stat(path, &status) == 0)
            truncate(path, status.st_size - 1)
            try peer.restart()
            #expect(access(path + ".bad", F_OK) == 0 && access(path, F_OK) != 0)
            // What could be read of it is told.
            #expect(try peer.list().first?.kind == EXECUTOR_ENTRY)
        }

        @Test("moments of another boot are none")
        func boot() throws {
            let peer = try ExecutorPeer()
            #expect(try peer.start(1, ExecutorWork("true")) == 0)
            _ = try peer.wait(EXECUTOR_GONE, of: 1)
            kill(peer.processID, SIGTERM)
            _ = peer.end()
            let file = open(peer.stateFolder + "/ends", O_WRONLY)
            try #require(file >= 0)
            // The first letter of the boot's name.
            #expect(pwrite(file, "x", 1, 128) == 1)
            close(file)
            try peer.restart()
            let list = try peer.list()
            #expect(list.count == 4)
            #expect(list.allSatisfy { $0.record.moment == 0 })
        }
    }
}
