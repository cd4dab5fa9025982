import Glibc
import TestKit

/// A bgtask-executor for daemons that follow each other; killed, with what it runs, with the value that stands for it.
final class ExecutorProcess {
    private let folder: TemporaryFolder
    /// Where it has the groups of commands.
    let groupFolder: String
    private let listener: Int32
    private let program: String
    private let usesGroups: Bool
    private(set) var processID: pid_t = 0

    /// - Parameter usesGroups: whether commands have control groups, rather than supervisors.
    init(program: String = Programs.path("bgtask-executor"), usesGroups: Bool = true) throws {
        folder = try TemporaryFolder()
        self.program = program
        self.usesGroups = usesGroups
        let number = UInt64.random(in: 0...UInt64.max)
        groupFolder = DaemonProcess.groupParent + "/bgtask-executor-test-\(number)"
        listener = Glibc.socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let path = folder.path + "/socket"
        let result = withSocketAddress(path) { bind(listener, $0, $1) }
        guard result == 0, listen(listener, 16) == 0 else {
            throw Child.CannotStart(program: path, errno: errno)
        }
        try start()
    }

    deinit {
        if processID != 0 { try? kill() }
        close(listener)
        try? Files.write("1", to: groupFolder + "/cgroup.kill")
        try? eventually("no process is left in \(groupFolder)") {
            let events = Files.text(groupFolder + "/cgroup.events")
            return events.isEmpty || events.contains("populated 0")
        }
        for name in Files.names(groupFolder) { rmdir("\(groupFolder)/\(name)") }
        rmdir(groupFolder)
        for name in Files.names(folder.path + "/state") { unlink("\(folder.path)/state/\(name)") }
        rmdir(folder.path + "/state")
    }

    /// What a daemon is started with.
    var arguments: [String] { ["--executor", folder.path + "/socket"] }

    /// Starts it, or another one after it has ended.
    func start() throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, listener, 3)
        let flags = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 2, folder.path + "/log", flags, 0o600)
        let words = [program, usesGroups ? groupFolder : "none", folder.path + "/state", "600"]
        let variables = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"]
        var arguments = words.map { strdup($0) } + [nil]
        var environment = variables.map { strdup($0) } + [nil]
        defer { for pointer in arguments + environment { free(pointer) } }
        let result = posix_spawn(&processID, program, &actions, nil, &arguments, &environment)
        guard result == 0 else { throw Child.CannotStart(program: program, errno: result) }
    }

    /// Kills it, and what it runs with it, as the service manager does.
    func kill() throws {
        Glibc.kill(processID, SIGKILL)
        waitpid(processID, nil, 0)
        processID = 0
    }

    func signal(_ number: Int32) { Glibc.kill(processID, number) }

    /// Has it end: what it runs has its handlers and its grace.
    ///
    /// - Returns: its exit status.
    func stop() throws -> Int32 {
        Glibc.kill(processID, SIGTERM)
        return try waitForEnd()
    }

    /// Waits for its end, and reaps it.
    func waitForEnd() throws -> Int32 {
        var status: Int32 = -1
        try eventually("bgtask-executor ends; it says: \(Files.text(folder.path + "/log"))") {
            waitpid(processID, &status, WNOHANG) == processID
        }
        processID = 0
        return status
    }
}
