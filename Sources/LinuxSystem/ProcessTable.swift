internal import CLinux
internal import Glibc

/// The processes that /proc shows at one time, and who descends from whom.
struct ProcessTable {
    private let entries: [clx_process]
    private let known: Set<Int32>

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

    /// Children of a process, zombies included.
    func children(of parent: Int32) -> [Int32] {
        entries.filter { $0.parent == parent }.map { $0.pid }
    }

    /// Children of a process that have ended and are not reaped.
    func endedChildren(of parent: Int32) -> [Int32] {
        entries.filter { $0.parent == parent && $0.state == CChar(UInt8(ascii: "Z")) }.map {
            $0.pid
        }
    }

    /// What descends from the `roots`, without them and without zombies.
    func descendants(of roots: Set<Int32>) -> [Int32] {
        entriesBelow(roots).map { $0.pid }
    }

    /// Whether something descends from the `roots`, and all of it is stopped.
    func areStopped(descendantsOf roots: Set<Int32>) -> Bool {
        let processes = entriesBelow(roots)
        return !processes.isEmpty
            && processes.allSatisfy {
                withUnsafePointer(to: $0) { clx_process_is_stopped($0) }
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
