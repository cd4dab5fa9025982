internal import BudgetCore
internal import Glibc
internal import LinuxSystem
internal import TaskAPI
internal import TaskStore
internal import Varlink

/// Calls that change tasks.
final class TaskCalls {
    private let core: Core
    private let holders: HolderWatch
    private let submitters: Submitters
    private let subscriptions: Subscriptions
    private let replies: PendingReplies
    private let lookups: HistoryLookups
    private let executor: ExecutorSync
    private let journal: AuditTrail

    init(
        _ core: Core, _ holders: HolderWatch, _ submitters: Submitters,
        _ subscriptions: Subscriptions, _ replies: PendingReplies, _ lookups: HistoryLookups,
        _ executor: ExecutorSync, _ journal: AuditTrail
    ) {
        self.core = core
        self.holders = holders
        self.submitters = submitters
        self.subscriptions = subscriptions
        self.replies = replies
        self.lookups = lookups
        self.executor = executor
        self.journal = journal
    }

    // MARK: - Held tasks

    func begin(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Begin.Input.self)
        let holder = try input.pid.map { number throws(CallFailure) in
            try holders.holder(number, of: client)
        }
        var request = BeginRequest(
            name: input.name, owner: client.caller.owner, holder: holder ?? client.holder)
        request.holderProcess =
            input.pid.flatMap(Int32.init(exactly:)).map(ProcessID.init) ?? client.process
        if let application = input.application { request.application = application }
        if let profile = input.profile { request.profile = profile }
        request.budget = input.budget.map(RequestedBudget.init)
        let id = try core.ask { registry, now, actions throws(Refusal) in
            try registry.begin(request, at: now, &actions)
        }
        // Before it is followed: its begin is the answer itself.
        core.perform()
        let remaining = core.update { registry, now, _ in registry.remaining(of: id, at: now) }
        let output = Tasks.Begin.Begun(
            id: id.number, remaining: remaining.map(Tasks.Remaining.init))
        client.reply(output, continues: call.more)
        if call.more { subscriptions.add(client, .begun(id)) }
    }

    func end(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.End.Input.self)
        let id = try TaskID(named: input.id)
        let outcome = try core.ask { registry, now, actions throws(Refusal) in
            try registry.end(id, by: client.caller, at: now, &actions)
        }
        if outcome == nil { journal.endOfNothing(client.caller.owner, at: core.now) }
        var output = Tasks.End.Output()
        output.outcome = outcome.map(Tasks.Outcome.init)
        client.reply(output)
    }

    // MARK: - Commands

    func submit(_ client: Client, _ call: Call) throws(CallFailure) {
        // What is larger by far than any work may be is not even read: that alone would take its time.
        let bytesMax = core.registry.limits.workBytesMax
        guard call.byteCount <= 2 * bytesMax else {
            throw .refused(.limitReached(limit: "workBytesMax", value: bytesMax))
        }
        let work = try withRegisteredCommand(call.read(Tasks.Submit.Input.self).work, client)
        if work.limits != nil { throw .invalid("work.limits") }
        var submission = Submission(
            name: work.name, owner: client.caller.owner, work: try Work(checking: work))
        submission.application = work.application
        submission.profile = work.profile
        submission.budget = work.budget.map(RequestedBudget.init)
        submission.queueing = try Queueing(checking: work)
        let ready = submission
        try submitters.withSubmitter(of: client, byteCount: call.byteCount) {
            [unowned self] submitter throws(CallFailure) in
            var submission = ready
            submission.work.submitter = submitter
            try submitAsAccount(submission, client)
        }
    }

    /// What has no command runs that of the application that it names, unless it wakes it.
    private func withRegisteredCommand(
        _ work: Tasks.Work, _ client: Client
    ) throws(CallFailure) -> Tasks.Work {
        guard work.command == nil, work.wake != true, let id = work.application else { return work }
        let key = ApplicationKey(owner: client.caller.owner, id: id)
        let registration = try core.ask { registry, _, _ throws(Refusal) in
            try registry.application(key).registration
        }
        guard let command = registration.command else { throw .refused(.notRegistered(id)) }
        var work = work
        work.command = command
        work.directory = work.directory ?? registration.directory
        var environment = registration.environment.merging(work.environment ?? [:]) { $1 }
        environment["BGTASK_APPLICATION"] = id
        work.environment = environment
        return work
    }

    /// Submits again what a task of the caller's was submitted with.
    func restart(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Restart.Input.self)
        let predecessors = try [Predecessor](checking: input.after, any: input.afterAny, in: "")
        let id = try TaskID(named: input.id)
        let record = try runInMemory(id, of: client.caller.owner)
        if let record, record.task.state != .ended {
            throw .refused(.notAccepting("task \(id) has not ended; wait for it, or cancel it"))
        }
        try submitters.withSubmitter(of: client, byteCount: call.byteCount) {
            [unowned self] submitter throws(CallFailure) in
            try restart(id, after: predecessors, by: submitter, client, isKnown: record != nil)
        }
    }

    private func restart(
        _ id: TaskID, after predecessors: [Predecessor], by submitter: Submitter,
        _ client: Client, isKnown: Bool
    ) throws(CallFailure) {
        // Only this is kept while the disk is asked about them: what a task was submitted with is large, and is read
        // last.
        var order = Submission(name: "", owner: client.caller.owner, work: Work(command: []))
        order.queueing.after = predecessors
        try withEarlierEnds(of: order, client) { [unowned self] order, client throws(CallFailure) in
            try readSubmission(id, of: client, isKnown: isKnown) {
                [unowned self] ended, client, name throws(CallFailure) in
                var submission = try Submission(repeating: ended)
                submission.queueing.after = order.queueing.after
                submission.earlierEnds = order.earlierEnds
                submission.work.submitter = submitter
                submission.work.submitter.name = name
                // Those of which memory has forgotten meanwhile how they ended are refused as unknown.
                try take(submission, client, in: "")
            }
        }
    }

    /// Tells what a task of the caller's was submitted with.
    func showSubmission(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.ShowSubmission.Input.self)
        let id = try TaskID(named: input.id)
        let record = try runInMemory(id, of: client.caller.owner)
        if let record, record.task.state != .ended {
            return try submitters.withAccountName(of: client) { [core] name throws(CallFailure) in
                guard record.run?.work.submitter.isOfAccount(name) == true else {
                    throw .refused(.noSuchTask(id))
                }
                client.reply(Tasks.ShowSubmission.Output(record, at: core.now))
            }
        }
        try readSubmission(id, of: client, isKnown: record != nil) {
            [core] ended, client, _ throws(CallFailure) in
            guard ended.isWhole else { throw .submissionNotKept(id) }
            guard let record = TaskRecord(ended: RestoredTask(ended.task, core.clocks)) else {
                throw .endNotOnDisk(id)
            }
            client.reply(Tasks.ShowSubmission.Output(record, at: core.now))
        }
    }

    /// Has the disk asked what a task of the client's was submitted with, which is large and held by nobody for long.
    ///
    /// A uid may have been given to another account since; what the one before it submitted is not for that.
    ///
    /// - Parameter isKnown: whether memory has the task; the disk may have let go of it before.
    private func readSubmission(
        _ id: TaskID, of client: Client, isKnown: Bool,
        _ body: @escaping (EndedSubmission, Client, String?) throws(CallFailure) -> Void
    ) throws(CallFailure) {
        try submitters.withAccountName(of: client) { [lookups] name throws(CallFailure) in
            let missing: CallFailure =
                isKnown ? .submissionNotKept(id) : .refused(.noSuchTask(id))
            lookups.findSubmission(id, of: client, missing: missing) { ended, client in
                do throws(CallFailure) {
                    guard ended.task.work.submitter.isOfAccount(name) else {
                        throw .refused(.noSuchTask(id))
                    }
                    try body(ended, client, name)
                } catch {
                    client.reply(error)
                }
            }
        }
    }

    /// A command of this owner's, where memory has it; where it has not the disk may.
    private func runInMemory(
        _ id: TaskID, of owner: OwnerID
    ) throws(CallFailure) -> TaskRecord? {
        guard id != .invalid, id <= core.registry.identifierLast else {
            throw .refused(.noSuchTask(id))
        }
        guard let record = try? core.registry.record(id, for: Caller(owner: owner)) else {
            return nil
        }
        guard record.task.kind == .run else {
            throw .refused(
                .notAccepting("task \(id) was held by a program; only commands are submitted"))
        }
        return record
    }

    /// Submits a command, with the name that its caller's account has now.
    private func submitAsAccount(_ ready: Submission, _ client: Client) throws(CallFailure) {
        try submitters.withAccountName(of: client) { [unowned self] name throws(CallFailure) in
            var submission = ready
            submission.work.submitter.name = name
            try submit(submission, client)
        }
    }

    private func submit(_ submission: Submission, _ client: Client) throws(CallFailure) {
        try withEarlierEnds(of: submission, client) {
            [unowned self] submission, client throws(CallFailure) in try take(submission, client)
        }
    }

    /// Has the disk asked how those tasks ended that a submission comes after and only it knows, one after the other.
    private func withEarlierEnds(
        of submission: Submission, _ client: Client,
        _ body: @escaping (Submission, Client) throws(CallFailure) -> Void
    ) throws(CallFailure) {
        let unknown = core.registry.unknownPredecessors(of: submission)
        guard let id = unknown.first else { return try body(submission, client) }
        guard id != .invalid, id <= core.registry.identifierLast else {
            throw .refused(.noSuchTask(id))
        }
        lookups.find(id, for: client.caller, of: client) { [unowned self] record, client in
            guard let outcome = record.task.outcome else {
                return client.reply(.refused(.noSuchTask(id)))
            }
            var submission = submission
            submission.earlierEnds[id] = outcome
            do throws(CallFailure) {
                try withEarlierEnds(of: submission, client, body)
            } catch {
                client.reply(error)
            }
        }
    }

    /// - Parameter path: before the name of a parameter that is refused.
    private func take(
        _ submission: Submission, _ client: Client, in path: String = "work."
    ) throws(CallFailure) {
        let submitted = try core.ask { registry, now, actions throws(Refusal) in
            do throws(Refusal) {
                return try registry.submit(submission, at: now, &actions)
            } catch .invalidParameter(let name) {
                throw .invalidParameter(path + name)
            }
        }
        guard submitted.waits else {
            return client.reply(receipt(for: submitted.id, submitted.isCoalesced))
        }
        replies.open(client, about: .order(submitted.id)) { [unowned self] client in
            client.reply(receipt(for: submitted.id, submitted.isCoalesced))
        }
    }

    /// What a submitter is told: that the task is taken, that another one stands for it, or when it may begin.
    private func receipt(for id: TaskID, _ isCoalesced: Bool) -> Tasks.Submit.Output {
        var output = Tasks.Submit.Output()
        output.id = id.number
        output.receipt = .accepted
        if isCoalesced {
            output.receipt = .coalesced
        } else if core.registry.isDeferred(id) {
            output.receipt = .deferred
            output.notBeforeMs =
                core.registry.notBefore(id, at: core.now)?.roundedUpMilliseconds
        }
        let open = core.registry.openPredecessors(of: id)
        if !isCoalesced, !open.isEmpty { output.after = open.map(\.id.number) }
        return output
    }

    // MARK: - Orders

    func extend(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Extend.Input.self)
        let id = try TaskID(named: input.id)
        let caller = try client.caller(all: input.all)
        let remaining = try core.ask { registry, now, actions throws(Refusal) in
            try registry.extend(id, by: caller, at: now, &actions)
        }
        journal.logOrder("extend", id, in: core, by: client.caller.owner)
        var output = Tasks.Extend.Output()
        output.remaining = Tasks.Remaining(remaining)
        // Its executor fires its handler and its limit, and has to know first.
        guard executor.tellsTimes(of: id) else { return client.reply(output) }
        replies.open(client, about: .times(id)) { $0.reply(output) }
    }

    func cancel(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Cancel.Input.self)
        let id = try TaskID(named: input.id)
        guard input.reason?.utf8.count ?? 0 <= 1024 else { throw .invalid("reason") }
        let signal = input.signal.flatMap(SignalName.number).map(SignalNumber.init)
        guard input.signal == nil || signal != nil else { throw .invalid("signal") }
        let caller = try client.caller(all: input.all)
        let waitsForDisk = try core.ask { registry, now, actions throws(Refusal) in
            try registry.cancel(
                id, by: caller, text: input.reason, signal: signal, at: now, &actions)
        }
        journal.logOrder("cancel", id, in: core, by: client.caller.owner)
        guard waitsForDisk else { return client.reply(Empty()) }
        replies.open(client, about: .order(id)) { $0.reply(Empty()) }
    }

    func report(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Report.Input.self)
        let id = try TaskID(named: input.id)
        guard input.total == nil || input.completed != nil else { throw .invalid("total") }
        let report = TaskReport(
            text: input.text,
            progress: input.completed.map { TaskProgress(completed: $0, total: input.total) })
        try core.ask { registry, now, actions throws(Refusal) in
            try registry.report(report, of: id, by: client.caller, at: now, &actions)
        }
        client.reply(Empty())
    }

    func complete(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Complete.Input.self)
        let id = try TaskID(named: input.id)
        try core.ask { registry, now, actions throws(Refusal) in
            try registry.complete(
                id, isSuccess: input.success ?? true, by: client.caller, at: now, &actions)
        }
        client.reply(Empty())
    }

    func clean(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.Clean.Input.self)
        var ids: [TaskID] = []
        for number in input.ids { ids.append(try TaskID(number, in: "ids")) }
        let caller = try client.caller(all: input.all)
        try core.ask { registry, _, _ throws(Refusal) in
            try registry.checkCleaning(ids, by: caller)
        }
        // Asked beside the thread that writes, an account after the other: it gets to know only what it has to remove.
        lookups.findEnded(ids, for: caller, of: client) { [unowned self] stored, client in
            do throws(CallFailure) {
                try clean(ids, stored: stored, by: caller, for: client)
            } catch {
                client.reply(error)
            }
        }
    }

    private func clean(
        _ ids: [TaskID], stored: Set<TaskID>, by caller: Caller, for client: Client
    ) throws(CallFailure) {
        let cleaned = try core.ask { registry, _, actions throws(Refusal) in
            try registry.clean(ids, stored: stored, by: caller, &actions)
        }
        guard !cleaned.isEmpty else { return client.reply(Empty()) }
        let say = { [core, journal] in journal.cleaned(cleaned, by: caller, at: core.now) }
        replies.open(client, about: .cleaning(caller.owner), succeeded: say) { $0.reply(Empty()) }
    }

    func simulateExpiration(_ client: Client, _ call: Call) throws(CallFailure) {
        let input = try call.read(Tasks.SimulateExpiration.Input.self)
        let id = try TaskID(named: input.id)
        let caller = try client.caller(all: input.all)
        try core.ask { registry, now, actions throws(Refusal) in
            try registry.simulateExpiration(id, by: caller, at: now, &actions)
        }
        journal.logOrder("simulate-expiration", id, in: core, by: client.caller.owner)
        client.reply(Empty())
    }
}

extension Submission {
    /// What a task was submitted with, to be submitted anew.
    fileprivate init(repeating ended: EndedSubmission) throws(CallFailure) {
        let task = ended.task
        guard task.end != nil else { throw .endNotOnDisk(task.id) }
        guard ended.isWhole else { throw .submissionNotKept(task.id) }
        self.init(name: task.name, owner: task.owner, work: task.work)
        application = task.application
        profile = task.profile
        budget = task.budget.map { RequestedBudget(duration: $0.duration, grace: $0.grace) }
        queueing = task.queueing.restarted(task.id)
    }
}

extension CallFailure {
    fileprivate static func endNotOnDisk(_ id: TaskID) -> CallFailure {
        .refused(.notAccepting("the end of task \(id) is not on the disk yet; try again"))
    }

    fileprivate static func submissionNotKept(_ id: TaskID) -> CallFailure {
        .refused(
            .notAccepting("what task \(id) was submitted with was not kept; submit it anew"))
    }
}

extension RequestedBudget {
    init(_ budget: Tasks.Budget) {
        self.init(
            duration: .milliseconds(budget.durationMs), grace: .milliseconds(budget.graceMs))
    }
}

extension Work {
    /// Checks what the kernel could not take, by the path of its parameter.
    init(checking work: Tasks.Work) throws(CallFailure) {
        if work.wake == true {
            guard work.application != nil, work.command == nil, work.directory == nil,
                work.environment == nil, work.input == nil, work.expiration == nil
            else { throw .invalid("work.wake") }
            self.init(command: [])
            return
        }
        let command = work.command ?? []
        try Work.check(command, "work.command")
        try Work.check(directory: work.directory, work.environment, in: "work")
        self.init(
            command: command,
            directory: work.directory,
            environment: work.environment ?? [:],
            expiration: try ExpirationHandler(checking: work.expiration)
        )
        guard let input = work.input, !input.isEmpty else { return }
        // What is longer by far is not even looked at.
        guard input.utf8.count <= Work.inputBytesMax / 3 * 4 + 4,
            Base64.byteCount(of: input) ?? 0 <= Work.inputBytesMax
        else { throw .refused(.limitReached(limit: "inputBytesMax", value: Work.inputBytesMax)) }
        guard Base64.byteCount(of: input) != nil else { throw .invalid("work.input") }
        self.input = input
    }

    private static let inputBytesMax = 1_048_576

    static func check(
        directory: String?, _ environment: [String: String]?, in path: String
    ) throws(CallFailure) {
        if let directory {
            // The kernel takes no longer one (PATH_MAX, with the byte at the end).
            guard directory.hasPrefix("/"), directory.utf8.count < Int(PATH_MAX),
                !directory.utf8.contains(0)
            else {
                throw .invalid("\(path).directory")
            }
        }
        for (name, value) in environment ?? [:] {
            let isName = !name.isEmpty && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "=") }
            guard isName, !value.utf8.contains(0) else { throw .invalid("\(path).environment") }
        }
    }

    static func check(_ command: [String], _ path: String) throws(CallFailure) {
        guard let program = command.first, !program.isEmpty else { throw .invalid(path) }
        for (index, argument) in command.enumerated() where argument.utf8.contains(0) {
            throw .invalid("\(path)[\(index)]")
        }
    }
}

extension ExpirationHandler {
    init(checking handler: Tasks.ExpirationHandler?) throws(CallFailure) {
        self.init()
        guard let handler else { return }
        if let name = handler.signal {
            guard name.isEmpty || SignalName.number(of: name) != nil else {
                throw .invalid("work.expiration.signal")
            }
            signal = SignalName.number(of: name).map(SignalNumber.init)
        }
        if let command = handler.command {
            try Work.check(command, "work.expiration.command")
            self.command = command
        }
    }
}

extension Queueing {
    /// What a call asks for, which the core checks.
    init(checking work: Tasks.Work) throws(CallFailure) {
        self.init()
        group = work.group
        priority = work.priority ?? 0
        earliestBegin = work.earliestBeginMs.map { .milliseconds($0) }
        for condition in work.conditions ?? [] { conditions.insert(Conditions(condition)) }
        minimumInterval = work.minimumIntervalMs.map { .milliseconds($0) }
        unique = work.unique.map(Uniqueness.init)
        retry = work.retry.map { asked in
            Retry(
                attempts: asked.attempts, delay: asked.delayMs.map { .milliseconds($0) },
                onInterruption: asked.onInterruption == true)
        }
        after = try [Predecessor](checking: work.after, any: work.afterAny, in: "work.")
        slots = work.slots ?? 1
        isPaused = work.paused == true
    }
}

extension Uniqueness {
    fileprivate init(_ unique: Tasks.Unique) {
        self =
            switch unique {
            case .keep: .keep
            case .replace: .replace
            case .replaceQueued: .replaceQueued
            }
    }
}

extension [Predecessor] {
    /// - Parameter path: before the names of the parameters.
    fileprivate init(
        checking completed: [Int]?, any: [Int]?, in path: String
    ) throws(CallFailure) {
        self.init()
        guard (completed?.count ?? 0) + (any?.count ?? 0) <= Predecessor.countMax else {
            throw .refused(.limitReached(limit: "predecessorsMax", value: Predecessor.countMax))
        }
        for number in completed ?? [] {
            append(Predecessor(try TaskID(number, in: path + "after")))
        }
        for number in any ?? [] {
            append(Predecessor(try TaskID(number, in: path + "afterAny"), anyOutcome: true))
        }
    }
}

extension Conditions {
    init(_ condition: Tasks.Condition) {
        self =
            switch condition {
            case .network: .network
            case .externalPower: .externalPower
            case .idle: .idle
            }
    }
}
