import Glibc
import TestKit

/// What /proc says of processes (proc(5)).
enum Processes {
    /// The processes whose environment has all of these entries.
    static func all(with entries: String...) -> [pid_t] {
        Files.names("/proc").compactMap { pid_t($0) }.filter { processID in
            let environment = Files.bytes("/proc/\(processID)/environ").split(separator: 0)
            return entries.allSatisfy { environment.contains(Array($0.utf8)[...]) }
        }
    }

    /// The text of /proc/PID/stat; empty where the process is gone.
    static func stat(_ processID: pid_t) -> String { Files.text("/proc/\(processID)/stat") }

    /// The children of a process, those included that have ended and are not reaped, and without who closes for it.
    static func children(of parent: pid_t) -> [pid_t] {
        Files.names("/proc").compactMap { pid_t($0) }.filter { processID in
            ProcessStat.fields(stat(processID)).dropFirst().first == "\(parent)"
                && name(processID) != "bgtask-closer"
        }
    }

    /// What a process is called, cut to 15 bytes.
    static func name(_ processID: pid_t) -> String {
        String(Files.text("/proc/\(processID)/comm").dropLast())
    }

    /// The state of a process as proc_pid_stat(5) has it: R, S, D, T, Z; `nil` where it is gone.
    static func state(_ processID: pid_t) -> Character? {
        ProcessStat.fields(stat(processID)).first?.first
    }

    /// Whether a process is there and does not end.
    static func isAlive(_ processID: pid_t) -> Bool {
        ProcessStat.isAlive(stat(processID))
    }

    /// A number of /proc/PID/status, such as VmRSS or Threads.
    ///
    /// Memory is 0 in a process with a sanitizer, whose shadow and quarantine say nothing of the daemon.
    static func status(_ key: String, of processID: pid_t) -> Int {
        if key.hasPrefix("Vm"), getenv("BGTASK_SANITIZED") != nil { return 0 }
        for line in Files.text("/proc/\(processID)/status").split(separator: "\n")
        where line.hasPrefix(key + ":") {
            return Int(line.split { !$0.isNumber }.first ?? "") ?? 0
        }
        return 0
    }

    static func descriptorCount(of processID: pid_t) -> Int {
        Files.names("/proc/\(processID)/fd").count
    }

    /// What each of its descriptors is of, such as a path or `socket:[17]`.
    static func descriptors(of processID: pid_t) -> [String] {
        let folder = "/proc/\(processID)/fd"
        return Files.names(folder).map { Files.target(of: "\(folder)/\($0)") }
    }

    /// How many of its descriptors are of a kind, such as `pipe` or `socket`.
    static func descriptorCount(of processID: pid_t, _ kind: String) -> Int {
        descriptors(of: processID).count { $0.hasPrefix(kind + ":") }
    }
}
