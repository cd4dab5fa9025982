import Glibc
import LinuxSystem
import TestKit
import Testing

/// Which containment a test runs with.
enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case cgroup
    case supervisor

    var testDescription: String { rawValue }

    /// Why no cgroup can be had here; `nil` where one can.
    static let refusal: String? = {
        do {
            let folder = try TemporaryFolder()
            try CgroupTree(stateFolder: folder.path).remove()
            return nil
        } catch {
            return "\(error)"
        }
    }()

    /// All that this machine allows.
    static let available: [Kind] = refusal == nil ? [.cgroup, .supervisor] : [.supervisor]
}

/// A folder that is gone after the test, with the files in it.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/linux-system-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemError(operation: "mkdtemp", errno: errno)
        }
        path = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) },
            as: UTF8.self
        )
    }

    deinit {
        let names = [
            "lock", "group", "socket", "file", "a/b/socket", "executor/lock", "executor/ends",
        ]
        for name in names { unlink("\(path)/\(name)") }
        for name in ["executor", "a/b", "a", ""] { rmdir("\(path)/\(name)") }
    }
}

/// A program that the build put beside the tests.
func builtProgram(_ name: String) throws -> String {
    try installedProgram("bgtask-executor").dropLast("bgtask-executor".count) + name
}

/// A host and an executor of its own, with their events, waited for with a bound.
final class Harness {
    let host: ProcessHost
    let stateFolder: TemporaryFolder
    /// Where its commands have their groups; `nil` where they have supervisors.
    let tree: CgroupTree?
    private let executor: ExecutorLink
    /// Of those that read for the host; made when it is needed.
    private var maker: CloserProcess.Maker?
    var events: [ProcessEvent] = []
    private var taskCount: UInt64 = 0

    /// No wait in these tests takes longer, unless something is broken.
    static let millisecondsMax: Int64 = 60_000

    init(_ kind: Kind) throws {
        stateFolder = try TemporaryFolder()
        tree = kind == .cgroup ? try CgroupTree(stateFolder: stateFolder.path) : nil
        host = try ProcessHost()
        executor = try host.connect(
            .program(
                ExecutorProgram(
                    path: try builtProgram("bgtask-executor"), groupFolder: tree?.folder,
                    stateFolder: ExecutorFolder(stateFolder: stateFolder.path).path)),
            owner: ExecutorLink.Owner(high: 1, low: 2))
        host.readers.connect { [unowned self] () throws(SystemError) in
            if let maker { return try maker.makeProcess() }
            let made = try CloserProcess.Maker()
            maker = made
            host.spare(made)
            return try made.makeProcess()
        }
    }

    deinit {
        executor.close()
        _ = try? tree?.killLeftovers()
        try? tree?.remove()
    }

    func makeTask() throws -> TestTask {
        taskCount += 1
        return TestTask(executor.makeCommand(taskCount), self)
    }

    /// A command that does nothing, once it runs.
    func startSleeping() throws -> TestTask {
        let task = try makeTask()
        _ = try task.start(LaunchRequest(arguments: ["sleep", "1000"]))
        try waitFor { self.startedProcessID != nil }
        return task
    }

    /// Lets events come until one of them is meant.
    func wait(until isMeant: (ProcessEvent) -> Bool) throws {
        try waitFor { self.events.contains(where: isMeant) }
    }

    /// Of the first command that has been told to run.
    var startedProcessID: Int32? {
        for case .started(_, let processID) in events.map(\.what) { return processID }
        return nil
    }

    func waitUntilGone(_ task: TestTask) throws {
        try wait { $0.task == task.identifier && $0.what == .gone }
    }

    /// Waits until something is so, and polls meanwhile where it is not to be left alone.
    func waitFor(polls: Bool = true, _ isSo: () throws -> Bool) throws {
        let deadline = MonotonicClock.now() + Self.millisecondsMax * 1_000_000
        while try !isSo() {
            guard MonotonicClock.now() < deadline else { throw TimedOut(events: events) }
            var ready = pollfd(fd: host.descriptor, events: Int16(POLLIN), revents: 0)
            poll(&ready, polls ? 1 : 0, 5)
            guard polls else { continue }
            try host.poll(into: &events)
        }
    }

    /// Runs a command to its end.
    func run(_ request: LaunchRequest) throws -> Outcome {
        let task = try makeTask()
        var process = try task.start(request)
        let output = process.takeStandardOutput()
        let error = process.takeStandardError()
        var outcome = Outcome()
        try waitFor {
            outcome.output += try readAvailable(output)
            outcome.error += try readAvailable(error)
            return events.contains(where: task.isOver)
        }
        outcome.output += try readAvailable(output)
        outcome.error += try readAvailable(error)
        outcome.whats = events.filter { $0.task == task.identifier }.map(\.what)
        task.close()
        return outcome
    }

    /// Runs a command that cannot be started; `nil` where it can.
    func failure(of request: LaunchRequest) throws -> LaunchError? {
        let task = try makeTask()
        defer { task.close() }
        do throws(LaunchError) {
            _ = try task.start(request)
        } catch {
            return error
        }
        try wait { task.isOver($0) }
        defer { events = [] }
        for case .startFailed(_, let error) in events.map(\.what) { return error }
        return nil
    }

    func run(_ arguments: String...) throws -> Outcome {
        try run(LaunchRequest(arguments: arguments))
    }
}

/// A command of a harness.
final class TestTask {
    private let command: ExecutedCommand
    private unowned let harness: Harness

    init(_ command: ExecutedCommand, _ harness: Harness) {
        self.command = command
        self.harness = harness
    }

    var identifier: UInt64 { command.identifier }
    var freezer: FreezeMethod { command.freezer }
    var homes: [ProcessHome] { command.homes }
    var isFrozen: Bool { command.isFrozen }

    func start(_ request: LaunchRequest) throws(LaunchError) -> TestProcess {
        let never = CommandTimes(handlerAt: 0, limitAt: 0, notes: [])
        try command.start(
            request,
            ExecutedCommand.Start(
                attempt: 1, handlerSignal: nil, handler: [], times: never, grace: 0, kept: nil))
        return TestProcess(self)
    }

    func processIDs() throws -> [Int32] { try command.processIDs() }
    func signal(_ number: Int32) throws { command.signal(number) }
    func ask(_ number: Int32) throws { try command.ask(number) }
    func kill() throws { command.kill() }
    func setFrozen(_ frozen: Bool) throws { try command.setFrozen(frozen) }
    func readUse() -> ProcessUse? { command.readUse() }
    func close() { command.close() }

    /// Whether it is over by an event.
    func isOver(_ event: ProcessEvent) -> Bool {
        guard event.task == identifier else { return false }
        if case .startFailed = event.what { return true }
        return event.what == .gone
    }

    /// What comes with the start of its program; nothing where that fails.
    fileprivate func takeOutput(
        _ take: (ExecutedCommand) -> OwnedDescriptor?
    ) -> OwnedDescriptor {
        try? harness.waitFor {
            harness.events.contains { event in
                guard event.task == identifier else { return false }
                if case .started = event.what { return true }
                return isOver(event)
            }
        }
        return take(command) ?? OwnedDescriptor(-1)
    }
}

/// A command that has been ordered to start.
struct TestProcess {
    private let task: TestTask
    private var outputsTaken = 0

    init(_ task: TestTask) { self.task = task }

    mutating func takeStandardOutput() -> OwnedDescriptor {
        outputsTaken += 1
        return task.takeOutput { $0.takeStandardOutput() }
    }

    mutating func takeStandardError() -> OwnedDescriptor {
        outputsTaken += 1
        return task.takeOutput { $0.takeStandardError() }
    }
}

struct TimedOut: Error {
    let events: [ProcessEvent]
}

struct Outcome {
    var output = ""
    var error = ""
    var whats: [ProcessEvent.What] = []

    var exit: Exit? {
        for case .exited(_, let exit) in whats { return exit }
        return nil
    }
}

/// What is in a pipe now.
func readAvailable(_ descriptor: borrowing OwnedDescriptor) throws -> String {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    var text = ""
    while true {
        let count = read(descriptor.rawValue, &bytes, bytes.count)
        if count > 0 {
            text += String(decoding: bytes.prefix(count), as: UTF8.self)
        } else if count == 0 || errno == EAGAIN || descriptor.rawValue < 0 {
            return text
        } else if errno != EINTR {
            throw SystemError(operation: "read", errno: errno)
        }
    }
}

/// Whether a process is there and does not end.
func isAlive(_ processID: Int32) -> Bool {
    (try? contents(of: "/proc/\(processID)/stat")).map(ProcessStat.isAlive) ?? false
}

/// The real uid of a process, from /proc/PID/status (proc_pid_status(5)).
func realUser(of processID: Int32) throws -> UInt32? {
    let status = try contents(of: "/proc/\(processID)/status")
    let line = status.split(separator: "\n").first { $0.hasPrefix("Uid:") }
    return line?.split(separator: "\t").dropFirst().first.flatMap { UInt32($0) }
}

func contents(of path: String) throws -> String {
    let file = try OwnedDescriptor.open(path, flags: O_RDONLY)
    return try readAvailable(file)
}

/// Whether the tests are built with a sanitizer (`make sanitize`).
let isSanitized = getenv("BGTASK_SANITIZED") != nil

/// Waits, with a bound, until something is so.
func waitUntil(_ isSo: () -> Bool) throws {
    let deadline = MonotonicClock.now() + Harness.millisecondsMax * 1_000_000
    while !isSo() {
        guard MonotonicClock.now() < deadline else { throw TimedOut(events: []) }
        poll(nil, 0, 1)
    }
}
