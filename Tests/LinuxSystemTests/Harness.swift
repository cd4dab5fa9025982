import Glibc
import LinuxSystem
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
        for name in ["lock", "supervisors", "group", "held", "socket", "file", "a/b/socket"] {
            unlink("\(path)/\(name)")
        }
        for name in ["a/b", "a", ""] { rmdir("\(path)/\(name)") }
    }
}

/// A program that the build put beside the tests.
func builtProgram(_ name: String) throws -> String {
    let supervisor = try Containment.supervisorPath()
    return supervisor.dropLast("bgtask-supervisor".count) + name
}

/// A host with its events, waited for with a bound.
final class Harness {
    let host: ProcessHost
    let stateFolder = try? TemporaryFolder()
    var events: [ProcessEvent] = []
    private var taskCount: UInt64 = 0

    /// No wait in these tests takes longer, unless something is broken.
    static let millisecondsMax: Int64 = 60_000

    init(_ kind: Kind) throws {
        switch kind {
        case .cgroup:
            host = try ProcessHost(
                .cgroup(try CgroupTree(stateFolder: stateFolder?.path ?? "/tmp"))
            )
        case .supervisor:
            host = try ProcessHost(.supervisor(path: try Containment.supervisorPath()))
        }
    }

    deinit {
        if case .cgroup(let tree) = host.containment {
            _ = try? tree.killLeftovers()
            try? tree.remove()
        }
    }

    func makeTask() throws -> any TaskProcesses {
        taskCount += 1
        return try host.makeTask(taskCount)
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

    func waitUntilGone(_ task: any TaskProcesses) throws {
        let gone = ProcessEvent(task: task.identifier, what: .gone)
        try wait { $0 == gone }
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
            try host.pollChildren(into: &events)
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
            return events.contains(ProcessEvent(task: task.identifier, what: .gone))
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
        try waitUntilGone(task)
        defer { events = [] }
        for case .startFailed(_, let error) in events.map(\.what) { return error }
        return nil
    }

    func run(_ arguments: String...) throws -> Outcome {
        try run(LaunchRequest(arguments: arguments))
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
        } else if count == 0 || errno == EAGAIN {
            return text
        } else if errno != EINTR {
            throw SystemError(operation: "read", errno: errno)
        }
    }
}

/// Whether a process is there and not a zombie.
func isAlive(_ processID: Int32) -> Bool {
    guard let status = try? contents(of: "/proc/\(processID)/stat") else { return false }
    guard let parenthesis = status.lastIndex(of: ")") else { return false }
    return !status[parenthesis...].hasPrefix(") Z")
}

func contents(of path: String) throws -> String {
    let file = try OwnedDescriptor.open(path, flags: O_RDONLY)
    return try readAvailable(file)
}

/// Whether the tests are built with a sanitizer (`make sanitize`).
let isSanitized = getenv("BGTASK_SANITIZED") != nil
