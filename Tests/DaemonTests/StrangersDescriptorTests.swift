import CTestUsers
import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// Whoever lets go of such a descriptor waits in the kernel: for ten minutes, or for ever.
@Suite(
    "A descriptor that lingers, sent to the daemon", .timeLimit(.minutes(10)),
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct StrangersDescriptorTests {
    /// Whether the kernel can be asked to refuse descriptors (SO_PASSRIGHTS), as Linux 6.16 and later can.
    enum Kernel: CaseIterable {
        case asItIs, withoutRefusal

        var refuses: Bool {
            let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(socket) }
            var (passes, size): (Int32, socklen_t) = (0, 4)
            return self == .asItIs && getsockopt(socket, SOL_SOCKET, 83, &passes, &size) == 0
        }
    }

    /// Runs a program on a kernel that does not know SO_PASSRIGHTS, as far as the program can tell.
    private static let withoutRefusal = """
        import ctypes, os, struct, sys
        set, get = (54, 55) if os.uname().machine == 'x86_64' else (208, 209)
        load, equal, end = 0x20, 0x15, 0x06
        code = [(load, 0, 0, 0), (equal, 1, 0, set), (equal, 0, 5, get), (load, 0, 0, 24), (equal, 0, 3, 1),
                (load, 0, 0, 32), (equal, 0, 1, 83), (end, 0, 0, 0x50000 | 92), (end, 0, 0, 0x7fff0000)]
        text = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *one) for one in code))
        program = ctypes.create_string_buffer(struct.pack('H6xP', len(code), ctypes.addressof(text)))
        if ctypes.CDLL(None).prctl(22, 2, program, 0, 0) != 0: sys.exit('no filter can be set')
        os.execv(sys.argv[1], sys.argv[1:])
        """

    private static func daemon(
        _ kernel: Kernel, in folder: TemporaryFolder, environment: [String] = []
    ) throws -> DaemonProcess {
        try DaemonProcess(
            .supervisor, in: folder, arguments: ["--system"], environment: environment,
            within: kernel == .asItIs ? [] : ["/usr/bin/python3", "-c", withoutRefusal])
    }

    /// What has been sent, and lingers until this is over.
    private final class Sent {
        private let file: UnflushedFile?
        private var ends: [Int32] = []

        init(_ lingering: Lingering) throws {
            file = try lingering.file()
        }

        deinit { for end in ends { close(end) } }

        /// Sends one.
        ///
        /// - Returns: whether the kernel has let it pass.
        @discardableResult
        func send(_ text: String, over socket: Int32, flags: Int32 = 0) throws -> Bool {
            let bytes = Array(text.utf8)
            let end = test_send_lingering(socket, file?.path, bytes, bytes.count, flags)
            if end >= 0 { ends.append(end) }
            guard end < 0 else { return true }
            guard errno == EPERM || errno == EPIPE || errno == ECONNRESET else {
                throw NeverHappened(description: "a descriptor cannot be sent: \(errno)")
            }
            return false
        }
    }

    private static let call = #"{"method":"org.bgtaskd.Tasks.Groups"}"# + "\0"

    /// How it is sent over a connection.
    enum Way: CaseIterable {
        case alone, behindCalls, urgent, refused, unread, thenClosed
    }

    private func attack(_ way: Way, _ sent: Sent, _ daemon: DaemonProcess) throws -> Bool {
        let socket = try TestUser.games.connect(to: daemon.socketPath)
        let other = RawConnection(adopting: socket)
        switch way {
        case .alone: return try sent.send("{", over: socket)
        case .behindCalls:
            // As many as are answered without anybody reading: the daemon reads no more of who does not.
            other.sendWithoutWaiting(String(repeating: Self.call, count: 1000))
            return try sent.send("{", over: socket)
        case .urgent: return try sent.send("{", over: socket, flags: Int32(MSG_OOB))
        case .refused:
            // The daemon hangs up on that, with what follows unread.
            other.sendWithoutWaiting("[]\0")
            return try sent.send("{", over: socket)
        case .unread:
            // It is not read before somebody reads its answers.
            other.sendWithoutWaiting(#"{"method":"org.bgtaskd.Tasks.Watch","more":true}"# + "\0")
            return try sent.send(Self.call, over: socket)
        case .thenClosed:
            _ = try sent.send("{", over: socket)
            return try sent.send("{", over: socket)
        }
    }

    @Test(
        "over a connection, it keeps nobody waiting, and neither an end nor the next start",
        arguments: Kernel.allCases, Lingering.possible)
    func calls(_ kernel: Kernel, _ lingering: Lingering) throws {
        let folder = try TemporaryFolder.passable()
        let sent = try Sent(lingering)
        let first = try Self.daemon(kernel, in: folder)
        for way in Way.allCases {
            for _ in 1...3 {
                let isSent = try attack(way, sent, first)
                // The daemon may have hung up before.
                if way != .refused, way != .thenClosed { #expect(isSent == !kernel.refuses) }
            }
            #expect(try first.connect(as: .backup).ask(Tasks.Groups.self).groups.isEmpty)
        }
        if !kernel.refuses { try first.waitForLog("a file descriptor came along") }
        try first.kill()
        let second = try Self.daemon(kernel, in: folder)
        for way in Way.allCases { _ = try attack(way, sent, second) }
        #expect(try second.stop() == .status(0))
    }

    @Test(
        "at the socket of a task, it keeps nobody waiting but that task",
        arguments: Kernel.allCases, Lingering.possible)
    func notices(_ kernel: Kernel, _ lingering: Lingering) throws {
        let sent = try Sent(lingering)
        let daemon = try Self.daemon(kernel, in: .passable())
        let client = try daemon.connect(as: .games)
        let id = try client.submit(script: "echo $NOTIFY_SOCKET; exec sleep 1000")
        let path = try daemon.noticePath(of: id, as: .games)
        let socket = try Self.datagramSocket(to: path)
        defer { close(socket) }
        for _ in 1...3 { #expect(try sent.send("STATUS=stuck", over: socket)) }
        // Another user's, with a descriptor of its own, which sd_notify_barrier(3) waits for.
        let other = try daemon.connect(as: .backup)
        let next = try other.submit(
            script: "systemd-notify --status=here; systemd-notify --status=there")
        #expect(try other.ended(next).status == "there")
        _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try client.ended(id).outcome == .cancelled)
        // The command is over for the executor too.
        let last = try client.submit(script: "exit 3")
        #expect(try client.ended(last).outcome == .failed)
        #expect(try daemon.stop() == .status(0))
    }

    @Test("from subordinate users, they are closed by one process, not by one for each")
    func subordinates() throws {
        let folder = try TemporaryFolder.passable()
        let file = folder.path + "/subuid"
        try Files.write("\(TestUser.games.name):200000:1000\n", to: file)
        let sent = try Sent(.connection)
        let daemon = try Self.daemon(
            .withoutRefusal, in: folder, environment: ["BGTASKD_SUBUID_FILE=\(file)"])
        for number in UInt32(0)..<20 {
            let socket = try TestUser.nameless(200_000 + number).connect(to: daemon.socketPath)
            let connection = RawConnection(adopting: socket)
            #expect(try sent.send("{", over: socket))
            _ = try connection.readToEnd()
        }
        let makers = Self.children(of: Int(daemon.processID)).filter {
            Files.text("/proc/\($0)/comm") == "bgtask-closer\n"
        }
        #expect(makers.count == 1)
        // Others read or remove.
        let closers = makers.flatMap(Self.children).filter {
            Files.text("/proc/\($0)/comm") == "bgtask-closer\n"
        }
        #expect(closers.count == 1)
    }

    private static func children(of process: Int) -> [Int] {
        Files.text("/proc/\(process)/task/\(process)/children").split(separator: " ").compactMap {
            Int($0)
        }
    }

    @Test("of a user who has sent hundreds that stay no more sockets are made, and commands run on")
    func crowd() throws {
        let sent = try Sent(.connection)
        let daemon = try Self.daemon(.asItIs, in: .passable())
        let client = try daemon.connect(as: .games)
        var isRefused = false
        for _ in 0..<300 where !isRefused {
            let id = try client.submit(script: "echo $NOTIFY_SOCKET; exec sleep 1000")
            let path = try daemon.noticePath(of: id, as: .games)
            isRefused = path.isEmpty
            if !isRefused {
                let socket = try Self.datagramSocket(to: path)
                defer { close(socket) }
                for _ in 1...2 { try sent.send("STATUS=stuck", over: socket) }
            }
            _ = try client.ask(Tasks.Cancel.self) { $0.id = id }
            _ = try client.ended(id)
        }
        #expect(isRefused)
        let id = try client.submit(script: "echo up: $NOTIFY_SOCKET")
        #expect(try client.ended(id).outcome == .completed)
        #expect(try daemon.text(of: id, as: .games) == "up:\n")
        let other = try daemon.connect(as: .backup)
        let next = try other.submit(script: "systemd-notify --status=here")
        #expect(try other.ended(next).status == "here")
        #expect(try daemon.stop() == .status(0))
    }

    private static func datagramSocket(to path: String) throws -> Int32 {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let result = withSocketAddress(path) { connect(socket, $0, $1) }
        guard result == 0 else { throw NeverHappened(description: "connect: \(errno)") }
        return socket
    }

    @Test("a task's words that come with a descriptor are heard, and the descriptor is closed")
    func barrier() throws {
        let daemon = try Self.daemon(.asItIs, in: .passable())
        let client = try daemon.connect(as: .games)
        let id = try client.submit(script: "echo $NOTIFY_SOCKET; exec sleep 1000")
        let path = try daemon.noticePath(of: id, as: .games)
        let text = Array("STATUS=with one".utf8)
        let end = test_send_datagram(path, text, text.count, 253)
        defer { close(end) }
        try eventually("it is heard") { try client.show(id).status == "with one" }
        var byte: UInt8 = 0
        #expect(read(end, &byte, 1) == 0, "all have been closed")
    }
}
