import Foundation
import TestKit
import Testing

/// bgtaskctl and a real daemon: verbs that take several tasks.
@Suite("bgtaskctl with several tasks", .timeLimit(.minutes(15)))
struct SeveralTasksTests {
    private let daemon: Daemon

    init() throws {
        daemon = try Daemon(settings: "queue.slots = 8\n[queue.groups.net]\nslots = 4\n")
    }

    private func ctl(_ arguments: String...) throws -> (status: Int32, text: String) {
        try Program(
            Programs.path("bgtaskctl"), arguments, variables: ["BGTASK_SOCKET": daemon.socket]
        ).waitForEnd()
    }

    /// Submits a command, and gives the task's number.
    private func run(_ name: String, _ script: String, _ options: String...) throws -> String {
        let program = try Program(
            Programs.path("bgtaskctl"),
            ["run", "--name", name] + options + ["--", "sh", "-c", script],
            variables: ["BGTASK_SOCKET": daemon.socket])
        let (status, text) = program.waitForEnd()
        try #require(status == 0, "\(text)")
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Waits until a task has printed something.
    private func wait(for text: String, of id: String) throws {
        while try !ctl("logs", id).text.contains(text) {}
    }

    private func outcome(_ id: String) throws -> String {
        _ = try ctl("wait", id)
        let fields = try ctl("show", id).text.split(separator: "\n")
        return fields.first { $0.hasPrefix("outcome\t") }?.dropFirst(8).description ?? ""
    }

    @Test("cancels by number, name and group, each task once, and says of each what it refuses")
    func cancel() throws {
        let one = try run("one", "sleep 1000")
        let twins = try [run("twin", "sleep 1000"), run("twin", "sleep 1000")]
        let grouped = try run("grouped", "sleep 1000", "--group", "net")
        let spared = try run("spared", "sleep 1000")
        let refused = try ctl("cancel", "999", one, "twin", "--group", "net", twins[0])
        #expect(refused.status == 1)
        #expect(refused.text.split(separator: "\n").count == 1)
        #expect(refused.text.contains("there is no task 999"), "\(refused)")
        for id in [one, grouped] + twins { #expect(try outcome(id) == "cancelled") }
        #expect(try ctl("show", spared).text.contains("state\trunning"))
        let other = try run("mistyped", "sleep 1000")
        let mistyped = try ctl("cancel", "nobody", "mistyped")
        #expect(mistyped.status == 1)
        #expect(mistyped.text.contains("there is no task nobody"), "\(mistyped)")
        #expect(try outcome(other) == "cancelled")
        let unknown = try ctl("cancel", "nobody")
        #expect(unknown.status == 1)
        #expect(unknown.text.contains("there is no task nobody that has not ended"), "\(unknown)")
        #expect(try ctl("cancel", "--all-mine").status == 0)
        #expect(try outcome(spared) == "cancelled")
        #expect(try ctl("cancel").status == 64)
        #expect(try ctl("cancel", "--all-mine", one).status == 64)
    }

    @Test("goes on waiting when the daemon is restarted, with what is printed then")
    func restart() throws {
        // Each waits once it has told the task's number.
        func start(_ name: String, _ option: String, _ script: String) throws -> Program {
            let program = try Program(
                Programs.path("bgtaskctl"),
                ["run", "--name", name, "--paused", option, "--", "sh", "-c", script],
                variables: ["BGTASK_SOCKET": daemon.socket])
            try #require(program.waitForOutput(name == "one" ? "task 1" : "2\n"))
            return program
        }
        let follower = try start("one", "--follow", "echo hello; exit 3")
        let waiting = try start("two", "--wait", "exit 4")
        try daemon.restart()
        #expect(try ctl("resume", "one", "two").status == 0)
        let followed = follower.waitForEnd()
        #expect(followed.status == 3)
        #expect(followed.text.contains("hello\n"), "\(followed)")
        #expect(waiting.waitForEnd().status == 4)
    }

    @Test("cancels by another signal, and kills what takes its grace")
    func signal() throws {
        let script = "trap 'exit 3' INT; trap '' TERM; echo ready; while :; do sleep 0.01; done"
        let polite = try run("polite", script, "--budget", "600s", "--grace", "300s")
        let stubborn = try run("stubborn", script, "--budget", "600s", "--grace", "300s")
        for id in [polite, stubborn] {
            try wait(for: "ready", of: id)
        }
        #expect(try ctl("cancel", polite, "--signal", "int").status == 0)
        #expect(try outcome(polite) == "cancelled")
        #expect(try ctl("show", polite).text.contains("exit\tstatus 3"))
        // It ignores SIGTERM, and has five minutes.
        #expect(try ctl("cancel", stubborn).status == 0)
        #expect(try ctl("cancel", stubborn, "--signal", "KILL").status == 0)
        #expect(try outcome(stubborn) == "cancelled")
        #expect(try ctl("show", stubborn).text.contains("exit\tsignal SIGKILL"))
        #expect(try ctl("cancel", stubborn, "--signal", "NOSUCH").status == 64)
    }

    @Test("waits for all, with the first status that is not 0, or for the first that ends")
    func wait() throws {
        let ended = try run("ended", "exit 0")
        _ = try ctl("wait", ended)
        let flag = daemon.folder + "/go"
        let first = try run("first", "until [ -e \(flag) ]; do sleep 0.01; done; exit 4")
        let second = try run("second", "until [ -e \(flag) ]; do sleep 0.01; done; exit 5")
        let late = try ctl("wait", first, second, "--timeout", "50ms")
        #expect(late.status == 125)
        #expect(late.text.contains("not ended after 50ms: task \(first), \(second)"), "\(late)")
        let behind = try ctl("wait", first, ended, second, "--timeout", "50ms")
        #expect(behind.text.contains("after 50ms: task \(first), \(second)"), "\(behind)")
        let any = try ctl("wait", "--any", first, ended, second)
        #expect(any.status == 0 && any.text == "\(ended)\n", "\(any)")
        let all = try Program(
            Programs.path("bgtaskctl"), ["wait", ended, second, first],
            variables: ["BGTASK_SOCKET": daemon.socket])
        try Data().write(to: URL(fileURLWithPath: flag))
        let result = all.waitForEnd()
        #expect(result.status == 5, "\(result)")
        #expect(try ctl("wait", "first", "second").status == 4)
    }

    @Test("shows, extends and reads what several have printed")
    func look() throws {
        let one = try run("one", "echo from one; sleep 1000")
        let two = try run("two", "echo from two; sleep 1000")
        for id in [one, two] {
            try wait(for: "from", of: id)
        }
        let logs = try ctl("logs", "one", "two")
        #expect(logs.text == "==> task \(one) <==\nfrom one\n==> task \(two) <==\nfrom two\n")
        let last = try run("last", "seq 1 9; echo oops >&2; sleep 1000")
        try wait(for: "oops", of: last)
        #expect(try ctl("logs", "-n", "2", "--stdout").text == "8\n9\n")
        #expect(try ctl("logs", "--stderr").text == "oops\n")
        let lines = try ctl("logs", "one", "last", "-n", "1")
        #expect(lines.text == "==> task \(one) <==\nfrom one\n==> task \(last) <==\noops\n")
        let extended = try ctl("extend", one, two)
        #expect(
            extended.text.split(separator: "\n").map { $0.prefix(2) } == ["\(one)\t", "\(two)\t"])
        let shown = try ctl("show", "two", one)
        #expect(shown.text.hasPrefix("id\t\(two)\n") && shown.text.contains("\n\nid\t\(one)\n"))
        let follower = try Program(
            Programs.path("bgtaskctl"), ["logs", "--follow", one, two],
            variables: ["BGTASK_SOCKET": daemon.socket])
        _ = try ctl("cancel", "--all-mine")
        let followed = follower.waitForEnd()
        #expect(followed.status == 0)
        for text in ["from one", "from two"] { #expect(followed.text.contains(text)) }
    }
}
