internal import Glibc

// All processes of a command, as they are found where they live: in its group, or below its supervisor where there are no
// groups.
extension ExecutedCommand: ProcessSet {
    package var freezer: FreezeMethod { home?.isGroup == false ? .signals : .cgroup }

    package var homes: [ProcessHome] {
        home.map { [$0] } ?? []
    }

    package var isFrozen: Bool {
        switch home {
        case .group?: (try? cgroup()?.stateNow())?.isFrozen ?? false
        case .supervisor(let processID)?:
            // Twice: a process that is started during the first look, by one that is then found stopped, is in the second.
            (0..<2).allSatisfy { _ in
                (try? ProcessTable())?.areStopped(descendantsOf: [processID]) == true
            }
        case nil: false
        }
    }

    package func processIDs() throws(SystemError) -> [Int32] {
        switch home {
        case .group?: try cgroup()?.processIDs() ?? []
        case .supervisor(let processID)?: try ProcessTable().descendants(of: [processID])
        case nil: []
        }
    }
}

extension ProcessHome {
    fileprivate var isGroup: Bool { if case .group = self { true } else { false } }
}
