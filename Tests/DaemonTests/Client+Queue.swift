import TaskAPI
import Testing
import Varlink

extension VarlinkClient {
    /// Has a command run, and gives the whole answer.
    func receipt(
        _ command: [String], _ fill: (inout Tasks.Work) -> Void = { _ in }
    ) throws(ClientError) -> Tasks.Submit.Output {
        var work = Tasks.Work()
        work.name = "test"
        work.command = command
        fill(&work)
        return try ask(Tasks.Submit.self) { $0.work = work }
    }

    /// Submits commands that never start, since the slots are taken, and cancels them.
    func submitAndCancel(_ count: Int, _ fill: (inout Tasks.Work) -> Void = { _ in }) throws {
        var work = Tasks.Work()
        work.name = "flood"
        work.command = ["true"]
        fill(&work)
        for start in stride(from: 0, to: count, by: 50) {
            let part = min(50, count - start)
            for _ in 0..<part { try send(Tasks.Submit.self, with { $0.work = work }) }
            let ids = try (0..<part).map { _ in try receive(Tasks.Submit.self).output.id }
            for id in ids { try send(Tasks.Cancel.self, with { $0.id = id }) }
            for _ in ids { _ = try receive(Tasks.Cancel.self) }
        }
    }

    /// Submits commands, many calls at once.
    ///
    /// - Returns: their tasks, in their order.
    func submitMany(
        _ count: Int, _ fill: (Int, inout Tasks.Work) -> Void
    ) throws -> [Int] {
        var ids: [Int] = []
        while ids.count < count {
            let numbers = ids.count..<min(ids.count + 50, count)
            for number in numbers {
                var work = Tasks.Work()
                work.name = "many"
                work.command = ["true"]
                fill(number, &work)
                let filled = work
                try send(Tasks.Submit.self, with { $0.work = filled })
            }
            for _ in numbers { ids.append(try receive(Tasks.Submit.self).output.id) }
        }
        return ids
    }

    /// The rules that hold a task back or that stopped it, the one that lasts longest in front.
    func explanations(_ id: Int) throws(ClientError) -> [Tasks.Explanation] {
        try ask(Tasks.Explain.self) { $0.id = id }.explanations
    }

    /// The first of them.
    func explanation(_ id: Int) throws -> Tasks.Explanation {
        try #require(explanations(id).first)
    }

    /// A task as listings have it.
    func listed(_ id: Int) throws -> Tasks.Task {
        let tasks = try ask(Tasks.List.self) { $0.ended = true }.tasks ?? []
        return try #require(tasks.first { $0.id == id })
    }

    /// Waits until a task has begun, and not ended.
    func waitForBegin(of id: Int) throws {
        try eventually("task \(id) runs") { try show(id).state == .running }
    }

    func group(_ name: String) throws -> Tasks.Group {
        try #require(try ask(Tasks.Groups.self).groups.first { $0.name == name })
    }

    func pause(_ group: String) throws(ClientError) {
        try ask(Tasks.PauseGroup.self) { $0.group = group }
    }

    func resume(_ group: String) throws(ClientError) {
        try ask(Tasks.ResumeGroup.self) { $0.group = group }
    }

    /// Watches all tasks, and waits until the daemon knows.
    ///
    /// - Parameter client: another connection to the same daemon.
    func watchAll(beside client: VarlinkClient, all: Bool? = nil) throws {
        try send(Tasks.Watch.self, with { $0.all = all }, more: true)
        try eventually("the watch has begun") {
            let probe = try client.begin("probe")
            _ = try client.ask(Tasks.End.self) { $0.id = probe }
            var isSeen = false
            while let (output, _) = try receiveIfReady(Tasks.Watch.self) {
                let event = output.event
                if event.task.id == probe, event.kind == .ended { isSeen = true }
            }
            return isSeen
        }
    }

    /// Takes events of a watch up to one that is as wanted.
    func events(until isLast: (Tasks.Event) -> Bool) throws -> [Tasks.Event] {
        var events: [Tasks.Event] = []
        while true {
            let (output, continues) = try receive(Tasks.Watch.self)
            events.append(output.event)
            if isLast(output.event) || !continues { return events }
        }
    }
}

extension DaemonProcess {
    /// A script that goes on once `letGo` is called with the same word.
    func waits(for word: String) -> String {
        "while ! [ -e \(folder.path)/go-\(word) ]; do sleep 0.05; done"
    }

    func letGo(_ word: String) throws {
        try Files.write("", to: "\(folder.path)/go-\(word)")
    }

    /// The daemon after this one in the same folder, with the same containment.
    ///
    /// - Parameter crashes: whether this one is killed instead of stopped.
    func successor(_ settings: String, crashes: Bool) throws -> DaemonProcess {
        if crashes {
            try kill()
        } else {
            #expect(try stop() == .status(0))
        }
        return try DaemonProcess(mode, settings: settings, in: folder)
    }
}

extension Tasks.Retry {
    init(attempts: Int, delay: Int? = nil, onInterruption: Bool? = nil) {
        self.init()
        self.attempts = attempts
        delayMs = delay
        self.onInterruption = onInterruption
    }
}

/// The clock that goes on while the machine sleeps, in milliseconds as proc_uptime(5) has it: cut to 10 ms.
enum Uptime {
    /// What that is rounded by, on both ends of a time between two moments.
    static let error = 10

    /// Prints it.
    static let script = "cut -d' ' -f1 /proc/uptime"

    static var now: Int { milliseconds(Files.text("/proc/uptime").prefix { $0 != " " }) }

    static func milliseconds(_ text: some StringProtocol) -> Int {
        let parts = text.split(separator: ".").compactMap { Int($0) }
        return parts.count == 2 ? parts[0] * 1000 + parts[1] * 10 : 0
    }

    /// All that a task has printed by the script, in this order.
    static func printed(by id: Int, of daemon: DaemonProcess) throws -> [Int] {
        try daemon.text(of: id).split(separator: "\n").map { milliseconds($0) }
    }
}
