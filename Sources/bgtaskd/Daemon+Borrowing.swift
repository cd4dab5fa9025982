internal import BudgetCore
internal import Glibc
internal import LinuxSystem
internal import TaskAPI
internal import Varlink

// Calls that change tasks.
extension Daemon {
    func begin(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.Begin.Input.self)
        let holder = try input.pid.map { number throws(CallFailure) in
            try self.holder(number, of: client)
        }
        var request = BeginRequest(
            name: input.name, owner: client.caller.owner, holder: holder ?? client.holder)
        request.holderProcess = input.pid.flatMap(Int32.init(exactly:)).map(ProcessID.init)
        if let application = input.application { request.application = application }
        if let profile = input.profile { request.profile = profile }
        request.budget = input.budget.map(RequestedBudget.init)
        let id = try ask { registry, actions throws(Refusal) in
            try registry.begin(request, at: now, &actions)
        }
        perform(at: now)
        let output = Tasks.Begin.Begun(
            id: id.number,
            remaining: registry.remaining(of: id, at: now).map(Tasks.Remaining.init))
        client.reply(output, continues: call.more)
        if call.more { open(.begin(id), task: id, for: client) }
    }

    func end(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.End.Input.self)
        let id = try identifier(input.id)
        let outcome = try ask { registry, actions throws(Refusal) in
            try registry.end(id, by: client.caller, at: now, &actions)
        }
        if outcome == nil { journal.endOfNothing(client.caller.owner, at: now) }
        var output = Tasks.End.Output()
        output.outcome = outcome.map(Tasks.Outcome.init)
        client.reply(output)
    }

    func extend(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.Extend.Input.self)
        let id = try identifier(input.id)
        let caller = try caller(client, all: input.all)
        let remaining = try ask { registry, actions throws(Refusal) in
            try registry.extend(id, by: caller, at: now, &actions)
        }
        logOrder("extend", id, of: client)
        var output = Tasks.Extend.Output()
        output.remaining = Tasks.Remaining(remaining)
        client.reply(output)
    }

    func submit(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        // What is larger by far than any work may be is not even read: that alone would take its time.
        guard call.byteCount <= 2 * registry.limits.workBytesMax else {
            throw .refused(
                .limitReached(limit: "workBytesMax", value: registry.limits.workBytesMax))
        }
        let work = try decode(call, as: Tasks.Submit.Input.self).work
        if work.limits != nil { throw .invalid("work.limits") }
        var submission = Submission(
            name: work.name, owner: client.caller.owner, work: try Work(checking: work))
        submission.work.submitter = try submitter(client, at: now)
        submission.application = work.application
        submission.profile = work.profile
        submission.budget = work.budget.map(RequestedBudget.init)
        submission.queueing = Queueing(work)
        let ready = submission
        try withAccountName(of: client, at: now) { daemon, name, now throws(CallFailure) in
            var submission = ready
            submission.work.submitter.name = name
            try daemon.submit(submission, client, now)
        }
    }

    private func submit(
        _ submission: Submission, _ client: Client, _ now: Instant
    ) throws(CallFailure) {
        let submitted = try ask { registry, actions throws(Refusal) in
            do throws(Refusal) {
                return try registry.submit(submission, at: now, &actions)
            } catch .invalidParameter(let name) {
                throw .invalidParameter("work.\(name)")
            }
        }
        let order = submitted.isCoalesced ? Client.Order.coalesced : .submission
        guard submitted.waits else {
            return client.reply(receipt(for: submitted.id, order, at: now))
        }
        open(.order(submitted.id, order), task: submitted.id, for: client)
    }

    func cancel(_ client: Client, _ call: Call, _ now: Instant) throws(CallFailure) {
        let input = try decode(call, as: Tasks.Cancel.Input.self)
        let id = try identifier(input.id)
        guard input.reason?.utf8.count ?? 0 <= 1024 else { throw .invalid("reason") }
        let caller = try caller(client, all: input.all)
        let waitsForDisk = try ask { registry, actions throws(Refusal) in
            try registry.cancel(id, by: caller, text: input.reason, at: now, &actions)
        }
        logOrder("cancel", id, of: client)
        guard waitsForDisk else { return client.reply(Empty()) }
        open(.order(id, .cancel), task: id, for: client)
    }

    func simulateExpiration(
        _ client: Client, _ call: Call, _ now: Instant
    ) throws(CallFailure) {
        let input = try decode(call, as: Tasks.SimulateExpiration.Input.self)
        let id = try identifier(input.id)
        let caller = try caller(client, all: input.all)
        try ask { registry, actions throws(Refusal) in
            try registry.simulateExpiration(id, by: caller, at: now, &actions)
        }
        logOrder("simulate-expiration", id, of: client)
        client.reply(Empty())
    }

    /// Keeps a call open until what it waits for has happened.
    func open(_ openCall: Client.OpenCall, task: TaskID?, for client: Client) {
        client.openCall = openCall
        client.eventCount = 0
        watchers.add(client, task: task)
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
        try Work.check(work.command, "work.command")
        try Work.check(directory: work.directory, work.environment, in: "work")
        self.init(
            command: work.command,
            directory: work.directory,
            environment: work.environment ?? [:],
            expiration: try ExpirationHandler(checking: work.expiration)
        )
    }

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
