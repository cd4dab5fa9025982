import CExecutor
import Glibc
import LinuxSystem
import TestKit
import Testing

/// The other end of a bgtask-executor: gives it orders, and hears what it tells.
final class ExecutorPeer {
    /// Where its commands live, and what is tested of both has both as its argument.
    enum Home: CaseIterable {
        case groups, supervisors

        static var possible: [Self] { Kind.refusal == nil ? allCases : [.supervisors] }
    }

    /// Where it has its groups, if it has any, and the socket that it listens on.
    private let tree: CgroupTree?
    private let folder: TemporaryFolder
    private(set) var processID: pid_t = 0
    /// What greets the executor, and its answer.
    var owner: (UInt64, UInt64) = (1, 2)
    private(set) var welcome: Heard?
    private var socket: Int32 = -1
    private var serial: UInt64 = 0
    /// What has been told and not been asked for, with its descriptors.
    private var heard: [Heard] = []

    /// A record with the descriptors that came with it, which are closed with it.
    final class Heard {
        let record: executor_record
        let descriptors: [Int32]

        init(_ message: executor_message) {
            var message = message
            record = withUnsafeBytes(of: &message.bytes) {
                $0.loadUnaligned(as: executor_record.self)
            }
            descriptors = withUnsafeBytes(of: &message.descriptors) {
                Array($0.bindMemory(to: Int32.self).prefix(message.count))
            }
        }

        deinit { for descriptor in descriptors { close(descriptor) } }

        var kind: executor_kind { executor_kind(UInt32(record.kind)) }
        func has(_ flag: executor_flag) -> Bool { record.flags & flag.rawValue != 0 }

        /// All that is in a pipe now.
        func text(_ index: Int = 0) throws -> String {
            try readAvailable(OwnedDescriptor(dup(descriptors[index])))
        }

        /// Adds to a text what comes through a pipe, until it is there.
        func read(into text: inout String, until end: String) throws {
            let deadline = MonotonicClock.now() + Harness.millisecondsMax * 1_000_000
            while !text.contains(end) {
                guard MonotonicClock.now() < deadline else {
                    throw SystemError(operation: "read", errno: ETIMEDOUT, subject: end)
                }
                var readable = pollfd(fd: descriptors[0], events: Int16(POLLIN), revents: 0)
                poll(&readable, 1, 10)
                text += try self.text()
            }
        }
    }

    /// How a service manager starts it: in which group, and with which variables.
    struct Service {
        var group: String
        var environment: [String] = []
    }

    private let service: Service?

    /// - Parameters:
    ///   - patience: the seconds for which commands go on without anybody connected.
    ///   - service: `nil` where it is told its folders.
    ///   - connects: `false` where it is not expected to work.
    init(
        _ home: Home = .groups, patience: Int = 60, service: Service? = nil, connects: Bool = true
    ) throws {
        folder = try TemporaryFolder()
        tree = home == .groups ? try CgroupTree(stateFolder: folder.path) : nil
        self.service = service
        processID = try spawn(patience: patience)
        if connects { try connect() }
    }

    /// One that ends with its daemon.
    init(joined home: Home) throws {
        folder = try TemporaryFolder()
        tree = home == .groups ? try CgroupTree(stateFolder: folder.path) : nil
        service = nil
        var ends: [Int32] = [-1, -1]
        try #require(
            socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
                == 0)
        defer { close(ends[1]) }
        processID = try spawn(patience: 0, socket: ends[1])
        socket = ends[0]
        welcome = try hello()
    }

    /// Starts another executor, with what the one before left.
    func restart() throws {
        _ = end()
        hangUp()
        processID = try spawn(patience: 60)
        try connect()
    }

    /// Where it keeps the ends.
    var stateFolder: String { folder.path + "/executor" }

    /// Starts an executor that listens, in the place of one before.
    func spawn(patience: Int) throws -> pid_t {
        let path = folder.path + "/socket"
        unlink(path)
        let listener = Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0)
        defer { close(listener) }
        try withSocketAddress(path) { address, length in
            try #require(bind(listener, address, length) == 0 && listen(listener, 4) == 0)
        }
        return try spawn(patience: patience, socket: listener)
    }

    private func spawn(patience: Int, socket: Int32) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, socket, 3)
        let words = try self.words(patience: patience)
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var process: pid_t = 0
        let error = posix_spawn(&process, words[0], &actions, nil, &pointers, environ)
        try #require(error == 0)
        return process
    }

    private func words(patience: Int) throws -> [String] {
        let program = try builtProgram("bgtask-executor")
        guard let service else {
            let groups = tree.map { $0.folder + "/executor" } ?? "none"
            return [program, groups, stateFolder, "\(patience)"]
        }
        let enter = "echo $$ >\(service.group)/cgroup.procs; exec /usr/bin/env \"$@\""
        let environment = service.environment + ["STATE_DIRECTORY=\(stateFolder)"]
        return ["/bin/sh", "-c", enter, "sh"] + environment + [program, "-", "-", "\(patience)"]
    }

    deinit {
        // It reaps what descends from it as long as it is there, and this process does not.
        resume()
        _ = try? tree?.killLeftovers()
        waitUntilReaped()
        if socket >= 0 { close(socket) }
        kill(processID, SIGKILL)
        waitpid(processID, nil, 0)
        _ = try? tree?.killLeftovers()
        try? tree?.remove()
        for name in ["ends", "ends.bad", "lock"] { unlink(stateFolder + "/" + name) }
        rmdir(stateFolder)
    }

    /// Waits until the executor has no child left but what closes for it.
    private func waitUntilReaped() {
        guard tree != nil else { return }
        let path = "/proc/\(processID)/task/\(processID)/children"
        for _ in 0..<500 {
            guard let children = try? readText(path), children.split(separator: " ").count > 1
            else { return }
            poll(nil, 0, 20)
        }
    }

    // MARK: - The connection

    func connect() throws {
        try dial()
        let heard = try hello()
        try #require(heard.kind == EXECUTOR_WELCOME)
        welcome = heard
    }

    /// Connects, and says nothing.
    func dial() throws {
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0)
        try withSocketAddress(folder.path + "/socket") { address, length in
            try #require(Glibc.connect(socket, address, length) == 0)
        }
    }

    /// - Returns: the answer, WELCOME or DONE.
    func hello(grace: UInt64 = 0) throws -> Heard {
        let serial = try order(EXECUTOR_HELLO) { ($0.instance, $0.grace) = (owner, grace) }
        return try wait(nil) { $0.record.serial == serial }
    }

    /// Goes away, and leaves the connection open.
    ///
    /// - Returns: the descriptor, which is the caller's.
    func leave() -> Int32 {
        defer { (socket, heard) = (-1, []) }
        return socket
    }

    /// Speaks over a connection that was left, from now on; the one that there is, is closed.
    func goOn(_ connection: Int32) {
        hangUp()
        socket = connection
    }

    /// Waits until something has been told, and leaves it unread.
    func waitForWord() throws {
        var readable = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        try #require(poll(&readable, 1, Int32(Harness.millisecondsMax)) == 1)
    }

    /// Stops the executor, so that it reads nothing.
    func suspend() throws {
        kill(processID, SIGSTOP)
        var status: Int32 = 0
        try #require(waitpid(processID, &status, WUNTRACED) == processID)
    }

    func resume() { kill(processID, SIGCONT) }

    /// Waits until the executor has ended.
    ///
    /// - Returns: its status, as waitpid(2) has it.
    func end() -> Int32 {
        var status: Int32 = -1
        waitpid(processID, &status, 0)
        return status
    }

    /// What the daemon's end is: nobody reads any more.
    func hangUp() {
        close(socket)
        socket = -1
        heard = []
    }

    /// Sends bytes that need be no record.
    func send(_ bytes: [UInt8]) {
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Whether the executor has closed the connection; waits for a word of it.
    func isHungUp() throws -> Bool {
        while true {
            guard let next = try next() else { return true }
            heard.append(next)
        }
    }

    // MARK: - Orders

    @discardableResult
    func order(
        _ kind: executor_kind, _ command: UInt64 = 0, descriptors: [Int32] = [],
        _ fill: (inout executor_record) -> Void = { _ in }
    ) throws -> UInt64 {
        serial += 1
        var record = executor_record()
        record.magic = UInt32(EXECUTOR_MAGIC)
        record.version = UInt16(EXECUTOR_VERSION)
        record.kind = UInt16(kind.rawValue)
        (record.serial, record.command) = (serial, command)
        fill(&record)
        let error = executor_send(socket, &record, descriptors, descriptors.count)
        try #require(error == 0)
        return serial
    }

    /// Gives an order and waits for its answer.
    ///
    /// - Returns: the errno of the answer.
    func code(
        _ kind: executor_kind, _ command: UInt64 = 0, descriptors: [Int32] = [],
        _ fill: (inout executor_record) -> Void = { _ in }
    ) throws -> Int32 {
        let serial = try order(kind, command, descriptors: descriptors, fill)
        return try wait(EXECUTOR_DONE) { $0.record.serial == serial }.record.code
    }

    /// Starts a command, and waits for the answer, not for the start.
    func start(
        _ command: UInt64, _ work: ExecutorWork, _ fill: (inout executor_record) -> Void = { _ in }
    ) throws -> Int32 {
        let file = work.file()
        defer { close(file) }
        return try code(EXECUTOR_START, command, descriptors: [file]) {
            ($0.attempt, $0.number, $0.grace) = (1, UInt32(SIGTERM), 1_000_000_000)
            fill(&$0)
        }
    }

    func forget(_ command: UInt64) throws -> Int32 {
        try code(EXECUTOR_FORGET, command) { $0.attempt = 1 }
    }

    /// Asks for a list.
    ///
    /// - Returns: what it has told, with LISTED as the last.
    func list() throws -> [Heard] {
        heard = []
        let serial = try order(EXECUTOR_LIST)
        let listed = try wait(EXECUTOR_LISTED) { $0.record.serial == serial }
        defer { heard = [] }
        return heard.filter { $0.kind != EXECUTOR_DONE } + [listed]
    }

    /// Starts a command, and waits until it has printed that it is ready.
    ///
    /// - Returns: its start, and what it has printed.
    func startReady(
        _ command: UInt64, _ work: ExecutorWork, graceSeconds: UInt64 = 1
    ) throws -> (started: Heard, text: String) {
        let code = try start(command, work) { $0.grace = graceSeconds * 1_000_000_000 }
        guard code == 0 else { throw SystemError(operation: "START", errno: code) }
        let started = try wait(EXECUTOR_STARTED, of: command)
        var text = ""
        try started.read(into: &text, until: "ready")
        return (started, text)
    }

    // MARK: - Reports

    /// The next of a kind; those of other kinds stay.
    func wait(
        _ kind: executor_kind?, of command: UInt64? = nil,
        _ isMeant: (Heard) -> Bool = { _ in true }
    ) throws -> Heard {
        func fits(_ heard: Heard) -> Bool {
            (kind == nil || heard.kind == kind)
                && (command == nil || heard.record.command == command)
                && isMeant(heard)
        }
        if let index = heard.firstIndex(where: fits) { return heard.remove(at: index) }
        while let next = try next() {
            if fits(next) { return next }
            heard.append(next)
        }
        throw SystemError(operation: "wait", errno: EPIPE, subject: "kind \(kind?.rawValue ?? 0)")
    }

    /// - Returns: `nil` where the executor has hung up.
    private func next() throws -> Heard? {
        var message = executor_message()
        while true {
            let error = executor_receive(socket, &message)
            if error == 0 { return Heard(message) }
            if error == EPIPE { return nil }
            guard error == EAGAIN else { throw SystemError(operation: "receive", errno: error) }
            var readable = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&readable, 1, Int32(Harness.millisecondsMax)) > 0 else {
                throw SystemError(operation: "wait", errno: ETIMEDOUT, subject: "\(heard.count)")
            }
        }
    }
}
