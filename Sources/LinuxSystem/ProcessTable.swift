internal import CLinux
internal import Glibc

/// The processes that /proc shows at one time, and who descends from whom.
struct ProcessTable {
    private let entries: [clx_process]
    private let known: Set<Int32>

    /// Made of what others have read.
    init(_ looks: [ProcessLook]) {
        entries = looks.map(\.process)
        known = Set(entries.map { $0.pid })
    }

    init() throws(SystemError) {
        var processes = clx_processes()
        defer { clx_processes_free(&processes) }
        let error = clx_processes_read(&processes)
        guard error == 0 else {
            throw SystemError(operation: "read", errno: error, subject: "/proc")
        }
        entries = Array(
            UnsafeBufferPointer(start: processes.entries, count: processes.count))
        known = Set(entries.map { $0.pid })
    }

    var processIDs: [Int32] { entries.map { $0.pid } }

    /// Children of a process, zombies included.
    func children(of parent: Int32) -> [Int32] {
        entries.filter { $0.parent == parent }.map { $0.pid }
    }

    /// What descends from the `roots`, without them and without zombies.
    func descendants(of roots: Set<Int32>) -> [Int32] {
        entriesBelow(roots).map { $0.pid }
    }

    /// Kills what descends from the `roots`, without them.
    ///
    /// - Returns: what was there.
    func kill(descendantsOf roots: Set<Int32>) -> [Int32] {
        entriesBelow(roots).map { process in
            _ = withUnsafePointer(to: process) { clx_process_signal($0, SIGKILL) }
            return process.pid
        }
    }

    /// Whether something descends from the `roots`, and all of it is stopped.
    func areStopped(descendantsOf roots: Set<Int32>) -> Bool {
        let processes = entriesBelow(roots)
        return !processes.isEmpty
            && processes.allSatisfy {
                withUnsafePointer(to: $0) { clx_process_is_stopped($0) }
            }
    }

    /// What descends from a process and lives, each with the child of that process that it descends from.
    func living(below root: Int32) -> [(process: clx_process, top: Int32)] {
        var tops: [Int32: Int32] = [:]
        // Parents mostly have the lower number, and then one pass finds all.
        while true {
            let count = tops.count
            for entry in entries where tops[entry.pid] == nil {
                tops[entry.pid] = entry.parent == root ? entry.pid : tops[entry.parent]
            }
            if tops.count == count { break }
        }
        return entries.compactMap { entry in
            guard let top = tops[entry.pid],
                !withUnsafePointer(to: entry, { clx_process_is_dead($0) })
            else { return nil }
            return (entry, top)
        }
    }

    func contains(_ processID: Int32) -> Bool {
        known.contains(processID)
    }

    /// Looks at each process once, whatever the order of their numbers.
    private func entriesBelow(_ roots: Set<Int32>) -> [clx_process] {
        var children: [Int32: [Int32]] = [:]
        for entry in entries { children[entry.parent, default: []].append(entry.pid) }
        var family = roots
        var open = Array(roots)
        while let parent = open.popLast() {
            for child in children[parent] ?? [] where family.insert(child).inserted {
                open.append(child)
            }
        }
        return entries.filter { entry in
            family.contains(entry.pid) && !roots.contains(entry.pid)
                && !withUnsafePointer(to: entry) { clx_process_is_dead($0) }
        }
    }
}
