import BudgetCore
import DaemonShell
import TestKit

// What happens to a daemon.
extension CrashHistory {
    mutating func event(_ shell: Shell) throws {
        shell.isExecutorFirst.toggle()
        switch Int.random(in: 0..<165, using: &random) {
        case 0..<26: try submitSome(to: shell)
        case 26..<37: try cancel(on: shell)
        case 37..<61: process(on: shell)
        case 61..<69: shell.pass(.milliseconds(Int.random(in: 0..<8000, using: &random)))
        case 69..<71: shell.suspend(for: .milliseconds(Int.random(in: 0..<20_000, using: &random)))
        case 71..<74: try hold(on: shell)
        case 74..<79: changeFault()
        case 79..<81: try shell.checkpoint()
        case 81..<84: stop(shell)
        case 84..<86: shell.canStart = false
        case 86..<90: shell.setConditions(someConditions())
        case 90..<94: try pause(on: shell)
        case 94..<159: try applicationEvent(on: shell)
        default: try shell.advanceStore(tellsFirst: chance(2))
        }
    }

    private mutating func changeFault() {
        let isWhole = disk.fault == .none
        disk.fault = isWhole ? Disk.Fault.allCases.randomElement(using: &random) ?? .none : .none
        disk.operationsBeforeFault = isWhole ? Int.random(in: 0..<8, using: &random) : 0
    }

    // MARK: - Submissions

    /// One, and now and then the same again at once.
    private mutating func submitSome(to shell: Shell) throws {
        let submission = someSubmission()
        try submit(submission, to: shell)
        while chance(4) {
            try shell.endTurn(launchesMax: 0)
            try submit(submission, to: shell)
        }
    }

    private func submit(_ submission: Submission, to shell: Shell) throws {
        let submitted: Submitted
        do throws(Refusal) {
            submitted = try shell.core.update({ registry, now, actions throws(Refusal) in
                try registry.submit(submission, at: now, &actions)
            })
        } catch {
            return shell.ledger.count("refused at once")
        }
        guard !submitted.isCoalesced else {
            return try shell.ledger.coalesced(submitted.id, submission)
        }
        try shell.ledger.handedOut(submitted.id)
        shell.ledger.submitted(submitted.id, submission)
    }

    private mutating func someSubmission() -> Submission {
        let number = Int.random(in: 0..<1000, using: &random)
        let owner = CrashHistory.owners[number % 2]
        var work = Work(command: ["upload", "\(number)"])
        if number.isMultiple(of: 3) {
            work.environment = ["NUMBER": "\(number)"]
            work.directory = "/srv"
            work.expiration = ExpirationHandler(signal: nil, command: ["flush"])
            work.submitter = Submitter(
                name: "dave", groups: SubmitterGroups(primary: 7, supplementary: [8, 9]),
                hasNoNewPrivileges: true)
        }
        var submission = Submission(name: "upload \(number % 3)", owner: owner, work: work)
        if number.isMultiple(of: 4) {
            submission.budget = RequestedBudget(duration: .seconds(5), grace: .seconds(3))
        }
        submission.queueing = someQueueing()
        return submission
    }

    private mutating func someQueueing() -> Queueing {
        var queueing = Queueing()
        if chance(2) { queueing.priority = Int.random(in: -1...1, using: &random) }
        if chance(3) { queueing.group = CrashHistory.groups.randomElement(using: &random) }
        if chance(5) { queueing.earliestBegin = someTime(longest: 20_000) }
        if chance(5) { queueing.conditions = someConditions() }
        if chance(4) { queueing.minimumInterval = someTime(longest: 30_000) }
        if chance(3) { queueing.unique = chance(2) ? .keep : .replace }
        if chance(2) {
            let attempts = Int.random(in: 1...4, using: &random)
            queueing.retry = Retry(
                attempts: attempts, delay: someTime(longest: 4000), onInterruption: chance(2))
        }
        return queueing
    }

    private mutating func someConditions() -> Conditions {
        Conditions.all.subtracting(Conditions(rawValue: .random(in: 0..<8, using: &random)))
    }

    private mutating func someTime(longest milliseconds: Int) -> Duration {
        .milliseconds(Int.random(in: 0..<milliseconds, using: &random))
    }

    mutating func chance(_ oneIn: Int) -> Bool {
        Int.random(in: 0..<oneIn, using: &random) == 0
    }

    // MARK: - Orders

    private mutating func hold(on shell: Shell) throws {
        let owner = CrashHistory.owners[1]
        if let id = holds.popLast(), Bool.random(using: &random) {
            _ = try? shell.core.update({ registry, now, actions throws(Refusal) in
                try registry.end(id, by: Caller(owner: owner), at: now, &actions)
            })
            return
        }
        var request = BeginRequest(name: "held", owner: owner, holder: HolderID(rawValue: 1))
        if !chance(3) {
            request.application = CrashHistory.applications.randomElement(using: &random)
        }
        guard
            let id = try? shell.core.update({ registry, now, actions throws(Refusal) in
                try registry.begin(request, at: now, &actions)
            })
        else { return }
        try shell.ledger.handedOut(id)
        holds.append(id)
    }

    private mutating func cancel(on shell: Shell) throws {
        let candidates =
            switch Int.random(in: 0..<4, using: &random) {
            case 0: shell.starting.sorted()
            case 1: shell.processes.keys.sorted()
            default: Array(shell.ledger.identifiers.suffix(8))
            }
        guard let id = candidates.randomElement(using: &random) else { return }
        let caller = Caller(owner: .root, seesAll: true)
        let waits = try? shell.core.update({ registry, now, actions throws(Refusal) in
            try registry.cancel(id, by: caller, text: nil, at: now, &actions)
        })
        if let waits { shell.ledger.cancelAsked(id, waits: waits) }
    }

    private mutating func pause(on shell: Shell) throws {
        let group = CrashHistory.groups.randomElement(using: &random) ?? ""
        try shell.setPaused(group, chance(2))
    }

    /// A process of a task does something.
    mutating func process(on shell: Shell) {
        let ids = shell.processes.filter { !$0.value.isGone }.keys.sorted()
        guard let id = ids.randomElement(using: &random), let process = shell.processes[id]
        else { return }
        if process.hasHandler, Bool.random(using: &random) {
            shell.processes[id]?.hasHandler = false
            shell.core.update({ registry, now, actions in
                registry.handlerExited(id, at: now, &actions)
            })
        } else if process.isMainThere {
            let exits: [ProcessExit] =
                process.isKilled
                ? [.signal(.kill)] : [.status(0), .status(0), .status(1), .signal(.terminate)]
            let exit = exits.randomElement(using: &random) ?? .status(0)
            shell.processes[id]?.isMainThere = false
            shell.ledger.exited(id, exit)
            shell.core.update({ registry, now, actions in
                registry.mainExited(id, exit, at: now, &actions)
            })
        } else if process.isKilled {
            shell.processes[id]?.isGone = true
            let use = ResourceUse(cpu: .milliseconds(Int.random(in: 0..<99, using: &random)))
            shell.ledger.gone(id, use)
            shell.core.update { registry, _, _ in registry.used(id, use) }
            shell.core.update({ registry, now, actions in
                registry.processesGone(id, at: now, &actions)
            })
        }
    }

    private func stop(_ shell: Shell) {
        shell.ledger.isDraining = true
        shell.core.update({ registry, now, actions in
            registry.drain(keepsQueue: true, at: now, &actions)
        })
    }
}
