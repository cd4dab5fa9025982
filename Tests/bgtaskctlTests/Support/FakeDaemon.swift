import Glibc
import JSON
import LinuxSystem
import TaskAPI
import Testing
import Varlink

/// What goes wrong in the surroundings of a test.
struct SupportError: Error {
    let operation: String
    let code: Int32

    init(_ operation: String) {
        self.operation = operation
        code = errno
    }
}

/// A folder of a test's own, which goes with it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/bgtaskctl-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SupportError("mkdtemp") }
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }

    deinit {
        unlink(path + "/socket")
        rmdir(path)
    }
}

/// A server on a real Unix socket that follows a script; each connection has a thread.
final class FakeDaemon: Sendable {
    let folder: TemporaryFolder
    var path: String { folder.path + "/socket" }
    private let listener: Int32
    private let record: Record
    private let script: @Sendable (Conversation) -> Void

    /// The calls that came, in their order.
    final class Record: Sendable {
        private let calls = LockedState<[(method: String, parameters: JSONValue)]>([])

        func add(_ call: Call) {
            let parameters = (try? call.value()) ?? .null
            calls.withLock { $0.append((call.method, parameters)) }
        }

        func parameters(of method: String) -> [JSONValue] {
            calls.withLock { $0.filter { $0.method == method }.map(\.parameters) }
        }
    }

    /// - Parameter script: holds one connection's conversation, until it returns.
    init(_ script: @escaping @Sendable (Conversation) -> Void) throws {
        folder = try TemporaryFolder()
        record = Record()
        self.script = script
        let listener = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        guard listener >= 0 else { throw SupportError("socket") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let name = Array((folder.path + "/socket").utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) }
        }
        guard result == 0, listen(listener, 16) == 0 else { throw SupportError("bind") }
        let record = record
        startThread {
            while true {
                let peer = accept(listener, nil, nil)
                guard peer >= 0 else { return }
                startThread {
                    script(Conversation(peer, record))
                    // A child that another test starts at this moment may have a copy of the descriptor.
                    shutdown(peer, Int32(SHUT_RDWR))
                    close(peer)
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The parameters of each call of a method.
    func parameters<M: Varlink.Method>(of method: M.Type) -> [JSONValue] {
        record.parameters(of: M.name)
    }
}

/// One connection of the fake daemon; belongs to its thread.
final class Conversation {
    private let descriptor: Int32
    private let record: FakeDaemon.Record
    private var connection = ServerConnection()

    init(_ descriptor: Int32, _ record: FakeDaemon.Record) {
        self.descriptor = descriptor
        self.record = record
    }

    /// Waits for the next call; `nil` where the peer has gone.
    ///
    /// GetInfo is answered here.
    func nextCall() -> Call? {
        let identity = ServiceInterface.Identity(
            vendor: "test", product: "fake", version: "1", url: "")
        let service = ServiceInterface(identity, interfaces: [:])
        var buffer = [UInt8](repeating: 0, count: 4096)
        do {
            while true {
                if let call = try connection.nextCall() {
                    record.add(call)
                    guard service.answer(call, on: &connection) != nil else { return call }
                    flush()
                    continue
                }
                let count = recv(descriptor, &buffer, buffer.count, 0)
                guard count > 0 else { return nil }
                try buffer[..<count].withUnsafeBytes { try connection.receive($0) }
            }
        } catch {
            Issue.record(error)
            return nil
        }
    }

    /// Waits for a call of this method and answers it.
    func expect<M: Varlink.Method>(_ method: M.Type, reply: M.Output, continues: Bool = false) {
        guard let call = nextCall() else { return }
        #expect(call.method == M.name)
        send(reply, continues: continues)
    }

    func send<M: Message>(_ message: M, continues: Bool = false) {
        #expect(connection.reply(message, continues: continues) == .queued)
        flush()
    }

    func refuse<E: WireError>(_ error: E) {
        #expect(connection.replyError(E.name, error) == .queued)
        flush()
    }

    /// Sends bytes that the protocol knows nothing of.
    func sendRaw(_ text: String) {
        let bytes = Array(text.utf8) + [0]
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Waits until the peer has gone.
    func waitForClose() {
        while nextCall() != nil {}
    }

    private func flush() {
        while connection.pendingOutputCount > 0 {
            let count = connection.withPendingOutput {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            connection.sent(count)
        }
    }
}

/// Makes two connected descriptors that no child inherits, not even one that another test starts right now.
func makeDescriptorPair() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw SupportError("socketpair") }
    return (ends[0], ends[1])
}

/// Makes a terminal that shows bytes as they are written, and the end at which they can be read.
func makeTerminal(_ size: (rows: UInt16, columns: UInt16)) throws -> (read: Int32, write: Int32) {
    // ioctl_tty(2); the compiler does not see these two.
    let (unlock, openPeer): (UInt, UInt) = (0x4004_5431, 0x5441)
    let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var isLocked: Int32 = 0
    guard master >= 0, ioctl(master, unlock, &isLocked) == 0 else { throw SupportError("ptmx") }
    let slave = ioctl(master, openPeer, O_RDWR | O_NOCTTY | O_CLOEXEC)
    var size = winsize(ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0)
    var settings = termios()
    guard slave >= 0, ioctl(slave, UInt(TIOCSWINSZ), &size) == 0, tcgetattr(slave, &settings) == 0
    else { throw SupportError("open") }
    cfmakeraw(&settings)
    guard tcsetattr(slave, TCSANOW, &settings) == 0 else { throw SupportError("tcsetattr") }
    return (master, slave)
}

/// Runs a body on a thread of its own, so that what blocks does not hold up other tests.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let result = pthread_create(
        &thread, nil,
        { pointer in
            guard let pointer else { return nil }
            Unmanaged<Box>.fromOpaque(pointer).takeRetainedValue().body()
            return nil
        }, Unmanaged.passRetained(Box(body)).toOpaque())
    precondition(result == 0, "no thread to be had")
    pthread_detach(thread)
}
