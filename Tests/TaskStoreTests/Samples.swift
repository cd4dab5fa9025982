import BudgetCore
import TaskStore
import TestKit

/// Tasks to store, some of them odd.
enum Samples {
    static func time(_ seconds: Int) -> WallTime {
        WallTime(microseconds: 1_700_000_000_000_000 + Int64(seconds) * 1_000_000)
    }

    /// A plain task.
    static func task(_ id: UInt64, name: String = "upload", owner: UInt32 = 1000) -> StoredTask {
        StoredTask(
            id: TaskID(rawValue: id), owner: OwnerID(rawValue: owner), name: name,
            profile: "default",
            budget: Budget(duration: .seconds(180), grace: .seconds(5)), grace: .seconds(5),
            lifetimeMax: .seconds(600), work: Work(command: ["true"]), submittedAt: time(0))
    }

    static func end(
        _ seconds: Int, _ outcome: Outcome = .completed, exit: ProcessExit? = .status(0)
    ) -> StoredEnd {
        StoredEnd(at: time(seconds), outcome: outcome, exit: exit, used: .milliseconds(1234))
    }

    /// A task with something in every field, or with nothing where nothing is allowed.
    static func task(_ id: UInt64, using random: inout SeededGenerator) -> StoredTask {
        let grace = Duration.milliseconds(Int.random(in: 0..<5000, using: &random))
        let length = Duration.milliseconds(Int.random(in: 5000..<600_000, using: &random))
        var task = StoredTask(
            id: TaskID(rawValue: id),
            owner: OwnerID(rawValue: [0, 1000, 1001, .max][Int.random(in: 0..<4, using: &random)]),
            name: ["", "a", "upload", "日本 \u{1F600}", "x'y\"z"].randomElement(using: &random) ?? "",
            application: maybe("org.example.\(id % 3)", &random),
            profile: ["default", "extended"][Int(id % 2)],
            budget: maybe(Budget(duration: length, grace: grace), &random) ?? nil,
            grace: grace,
            lifetimeMax: maybe(
                .milliseconds(Int.random(in: 1..<Int(Int32.max), using: &random)), &random),
            isCutByLifetime: Bool.random(using: &random),
            work: work(using: &random),
            queueing: queueing(using: &random),
            submittedAt: time(Int.random(in: -5...5, using: &random)))
        if Bool.random(using: &random) {
            task.startedAt = time(6)
            task.executor = executor(using: &random)
            task.isCancelled = Int.random(in: 0..<4, using: &random) == 0
        }
        return task
    }

    static func executor(using random: inout SeededGenerator) -> ExecutorInstance? {
        let instance = ExecutorInstance(
            high: [0, 1, .max].randomElement(using: &random) ?? 0, low: random.next())
        return maybe(instance, &random)
    }

    private static func work(using random: inout SeededGenerator) -> Work {
        let words = [
            "", "a b", "\u{0}\u{1F}\"\\", "é", "/bin/sh", String(repeating: "x", count: 900),
        ]
        let count = Int.random(in: 1..<8, using: &random)
        var work = Work(command: (0..<count).map { _ in words.randomElement(using: &random) ?? "" })
        work.directory = maybe("/home/é", &random)
        if Bool.random(using: &random) { work.environment = ["A": "", "B=": "\n", "PATH": "/bin"] }
        work.expiration = ExpirationHandler(
            signal: maybe(SignalNumber(rawValue: 10), &random),
            command: maybe(["notify", ""], &random))
        work.submitter = submitter(using: &random)
        work.input = maybe("aGVsbG8=", &random)
        return work
    }

    static func submitter(using random: inout SeededGenerator) -> Submitter {
        let groups = SubmitterGroups(
            primary: .max, supplementary: Bool.random(using: &random) ? [] : [4, 7])
        return Submitter(
            name: [nil, "", "é"].randomElement(using: &random) ?? nil,
            groups: maybe(groups, &random), hasNoNewPrivileges: Bool.random(using: &random))
    }

    /// Something about when a task may run.
    static func queueing(using random: inout SeededGenerator) -> Queueing {
        var queueing = Queueing()
        queueing.group = maybe("night", &random)
        queueing.priority = Int.random(in: -3...3, using: &random)
        queueing.earliestBegin = maybe(.seconds(30), &random)
        queueing.conditions = Conditions(
            rawValue: UInt8.random(in: 0...Conditions.all.rawValue, using: &random))
        queueing.minimumInterval = maybe(.seconds(600), &random)
        queueing.unique = [nil, .keep, .replace].randomElement(using: &random) ?? nil
        queueing.retry = maybe(
            Retry(
                attempts: 3, delay: maybe(.milliseconds(1501), &random),
                onInterruption: Bool.random(using: &random)), &random)
        queueing.slots = Int.random(in: 1...3, using: &random)
        queueing.isPaused = Bool.random(using: &random)
        queueing.restartOf = maybe(TaskID(rawValue: 2), &random)
        let before = [Predecessor(TaskID(rawValue: 1)), Predecessor(TaskID(rawValue: 7))]
        queueing.after = maybe(before, &random) ?? []
        let last = Predecessor(TaskID(rawValue: UInt64(Int64.max)), anyOutcome: true)
        if Bool.random(using: &random) { queueing.after.append(last) }
        return queueing
    }

    /// Some end.
    static func end(_ seconds: Int, using random: inout SeededGenerator) -> StoredEnd {
        let owner = OwnerID(rawValue: .max)
        let reasons: [Reason?] = [
            nil, .budgetSpent, .applicationTimeSpent, .simulated, .shutdown, .connectionClosed,
            .processExited, .queueLost, .daemonLost, .daemonAway, .executorStop,
            .recorded("words"),
            .notStarted("no such file"), .notStarted(""),
            .predecessor(BrokenDependency(TaskID(rawValue: 7), .overrun)),
            .predecessor(BrokenDependency(TaskID(rawValue: 8), nil)),
            .cancelled(by: owner, text: nil), .cancelled(by: owner, text: "é"),
        ]
        let exits: [ProcessExit?] = [nil, .status(0), .status(255), .signal(.kill)]
        return StoredEnd(
            at: time(seconds),
            outcome: Outcome.allCases.randomElement(using: &random) ?? .completed,
            exit: exits.randomElement(using: &random) ?? nil,
            reason: reasons.randomElement(using: &random) ?? nil,
            warnedAt: maybe(time(seconds - 1), &random),
            used: .milliseconds(Int.random(in: 0..<100_000, using: &random)),
            cpu: maybe(.milliseconds(17), &random),
            memoryPeakBytes: maybe(1 << 40, &random))
    }

    private static func maybe<Value>(
        _ value: Value, _ random: inout SeededGenerator
    ) -> Value? {
        Bool.random(using: &random) ? value : nil
    }
}

extension StoredTask {
    /// What the store keeps of the task after its end.
    func ended(_ end: StoredEnd) -> StoredTask {
        var task = self
        task.end = end
        task.executor = nil
        task.work.environment = [:]
        task.work.input = nil
        task.work.expiration.command = nil
        let bytes = task.work.command.reduce(1) { $0 + $1.utf8.count + 3 }
        if bytes > 4096, let first = task.work.command.first {
            task.work.command = [String(first.unicodeScalars.prefix(1024)), "…"]
        }
        if let directory = task.work.directory, directory.utf8.count > 1024 {
            task.work.directory = String(directory.unicodeScalars.prefix(256)) + "…"
        }
        if let groups = task.work.submitter.groups {
            task.work.submitter.groups = SubmitterGroups(primary: groups.primary, supplementary: [])
        }
        return task
    }
}

extension StoredTask {
    /// The task as listings have it.
    var listed: StoredTask {
        var task = self
        task.attempts = []
        return task
    }
}
