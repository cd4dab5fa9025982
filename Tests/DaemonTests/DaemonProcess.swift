import DaemonShell
import Glibc
import TestKit
import Testing
import Varlink

/// How a daemon of a test keeps the processes of a task together.
enum ContainmentMode: String, CaseIterable, CustomStringConvertible {
    case cgroup, supervisor

    var description: String { rawValue }

    /// Those that can be had here; where BGTASK_CONTAINMENT names one of them, that alone.
    static let available: [Self] = {
        let possible = allCases.filter { $0 == .supervisor || whyNoCgroup == nil }
        let wanted = getenv("BGTASK_CONTAINMENT").map { String(cString: $0) }
        let chosen = possible.filter { $0.rawValue == wanted }
        return chosen.isEmpty ? possible : chosen
    }()

    /// Why no cgroup can be had; `nil` where it can.
    static let whyNoCgroup: String? = {
        do {
            let folder = try TemporaryFolder()
            let daemon = try DaemonProcess(.cgroup, in: folder, waits: false)
            try eventually("a daemon with cgroups starts or not") {
                daemon.canConnect() || !daemon.child.isRunning
            }
            return daemon.child.isRunning ? nil : daemon.log
        } catch {
            return "\(error)"
        }
    }()
}

/// The daemon as it was built beside the tests, in a folder of its own.
///
/// Killed with the value that stands for it, and what it left in its cgroup too.
final class DaemonProcess {
    let child: Child
    let folder: TemporaryFolder
    let mode: ContainmentMode

    /// How long a client of a test waits for a reply.
    static let replyTimeout = Duration.seconds(300)

    /// Starts a daemon and waits until it serves.
    ///
    /// - Parameters:
    ///   - settings: what is added to the settings file.
    ///   - folder: of an earlier daemon, to go on where that one ended.
    ///   - environment: what is added to the daemon's own.
    ///   - wrapper: a command that runs the daemon, which follows it.
    ///   - user: who runs it and owns its files, where the tests' user is root.
    init(
        _ mode: ContainmentMode, settings: String = "", in folder: TemporaryFolder? = nil,
        arguments: [String] = [], environment: [String] = [], as user: TestUser? = nil,
        within wrapper: [String] = [],
        waits: Bool = true
    ) throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        self.mode = mode
        try Self.write(settings, mode, in: folder)
        for path in [folder.path, folder.path + "/bgtaskd.toml"] { try user?.own(path) }
        let command = [
            Self.program, "--config", folder.path + "/bgtaskd.toml", "--socket",
            folder.path + "/socket", "--state-dir", folder.path + "/state",
        ]
        let prefix = wrapper + (user.map { ["/usr/bin/setpriv"] + $0.privileges } ?? [])
        child = try Child(
            (prefix + command)[0],
            (prefix + command).dropFirst() + arguments,
            environment: ["PATH=/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8"] + environment,
            error: folder.path + "/log"
        )
        guard waits else { return }
        try eventually("the daemon serves") {
            guard child.isRunning else { throw DoesNotServe(log: log) }
            if let user { return (try? connect(as: user)) != nil }
            return canConnect()
        }
    }

    deinit {
        child.signal(SIGKILL)
        _ = try? child.waitForEnd()
        removeGroups()
        checkLog()
    }

    /// What must never happen fails the test in which it did.
    private func checkLog() {
        let sentence = DaemonMessage.fault.sentence
        for line in log.split(separator: "\n") where line.contains(sentence) {
            Issue.record("the daemon's log says: \(line)")
        }
    }

    /// The daemon ended before it served.
    struct DoesNotServe: Error {
        let log: String
    }

    var socketPath: String { folder.path + "/socket" }
    var statePath: String { folder.path + "/state" }
    var settingsPath: String { folder.path + "/bgtaskd.toml" }
    var processID: pid_t { child.processID }

    /// What it has written to standard error, with all daemons before it in the same folder.
    var log: String { Files.text(folder.path + "/log") }

    func connect() throws -> VarlinkClient {
        try VarlinkClient(address: socketPath, timeout: Self.replyTimeout)
    }

    func canConnect() -> Bool {
        (try? VarlinkClient(address: socketPath)) != nil
    }

    /// Writes the settings file anew; it is in force after a reload.
    func rewrite(settings: String) throws {
        try Self.write(settings, mode, in: folder)
    }

    private static func write(
        _ settings: String, _ mode: ContainmentMode, in folder: TemporaryFolder
    ) throws {
        let containment = "daemon.containment = \"\(mode)\"\n"
        try Files.write(containment + settings + "\n", to: folder.path + "/bgtaskd.toml")
    }

    func waitForLog(_ text: String, count: Int = 1) throws {
        try eventually("the log says \(text); it says:\n\(log)") {
            log.split(separator: "\n").filter { $0.contains(text) }.count >= count
        }
    }

    /// Stops the daemon as systemd does, and waits for its end.
    func stop() throws -> Child.Ending {
        child.signal(SIGTERM)
        return try child.waitForEnd()
    }

    func kill() throws {
        child.signal(SIGKILL)
        _ = try child.waitForEnd()
    }

    /// The bgtask-executor that it has started, while there is one.
    var executorID: pid_t? {
        Processes.children(of: processID).first { Processes.name($0) == "bgtask-executor" }
    }

    /// The processes of its tasks, found by what they have in their environment.
    func taskProcesses(of id: Int? = nil) -> [pid_t] {
        let socket = "BGTASK_SOCKET=\(socketPath)"
        guard let id else { return Processes.all(with: socket) }
        return Processes.all(with: socket, "BGTASK_ID=\(id)")
    }

    static let program = Programs.path("bgtaskd")
}

// The daemon's control groups.
extension DaemonProcess {
    /// How many descriptors it has, once the thread of the store has opened all of its files.
    func settledDescriptorCount() throws -> Int {
        let folder = "/proc/\(processID)/fd"
        try eventually("the output's database is open") {
            Files.names(folder).contains {
                Files.target(of: "\(folder)/\($0)").hasSuffix("/output.db-shm")
            }
        }
        return Processes.descriptorCount(of: processID)
    }

    /// The folder of the daemon's cgroup, named by its state folder; `nil` where there is none.
    var groupFolder: String? { Self.groupFolder(ofState: statePath) }

    static func groupFolder(ofState path: String) -> String? {
        let name = "bgtaskd-" + hexadecimalHash(path)
        return groupParents.map { $0 + "/" + name }.first(where: Files.exists)
    }

    /// Where daemons of this program have their groups.
    static var groupParent: String { groupParents.first ?? "" }

    private static var groupParents: [String] {
        let lines = Files.text("/proc/mounts").split(separator: "\n")
        let mounts = lines.map { $0.split(separator: " ") }.filter { $0.count > 2 }
        return mounts.filter { $0[2] == "cgroup2" }.map { ownGroup(below: String($0[1])) }
    }

    /// How many groups of tasks there are.
    var groupCount: Int {
        guard let groupFolder else { return 0 }
        return Files.names(groupFolder).filter { Files.exists("\(groupFolder)/\($0)/cgroup.procs") }
            .count
    }

    private func removeGroups() {
        guard let groupFolder else { return }
        try? Files.write("1", to: groupFolder + "/cgroup.kill")
        try? eventually("no process is left in \(groupFolder)") {
            Files.text(groupFolder + "/cgroup.events").contains("populated 0")
        }
        for name in Files.names(groupFolder) { rmdir("\(groupFolder)/\(name)") }
        rmdir(groupFolder)
    }

    private static func ownGroup(below mount: String) -> String {
        let lines = Files.text("/proc/self/cgroup").split(separator: "\n")
        let own = lines.first { $0.hasPrefix("0::/") }?.dropFirst(3) ?? "/"
        return own == "/" ? mount : mount + own
    }

    /// FNV-1a of 64 bits, as the daemon names its group.
    private static func hexadecimalHash(_ text: String) -> String {
        let hash = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
