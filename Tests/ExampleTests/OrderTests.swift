import Foundation
import TestKit
import Testing

/// bgtaskctl and a real daemon: tasks that come after others, and what is queued is paused and changed.
@Suite("bgtaskctl run --after, edit, pause and resume", .timeLimit(.minutes(15)))
struct OrderTests {
    private let daemon: Daemon

    init() throws {
        daemon = try Daemon(settings: "queue.slots = 2\n[queue.groups.net]\nslots = 1\n")
    }

    private func ctl(_ arguments: String...) throws -> (status: Int32, text: String) {
        try Program(
            Programs.path("bgtaskctl"), arguments, variables: ["BGTASK_SOCKET": daemon.socket]
        ).waitForEnd()
    }

    private func run(_ options: String..., script: String = "true") throws -> String {
        let program = try Program(
            Programs.path("bgtaskctl"), ["run"] + options + ["--", "sh", "-c", script],
            variables: ["BGTASK_SOCKET": daemon.socket])
        let (status, text) = program.waitForEnd()
        try #require(status == 0, "\(text)")
        // What is said about it besides goes to standard error, which comes here too.
        return try #require(text.split(separator: "\n").first { Int($0) != nil }).description
    }

    /// A command that runs until the file is there.
    private func gated(_ status: Int = 0) -> (script: String, open: () throws -> Void) {
        let gate = daemon.folder + "/gate\(status)"
        return (
            "until [ -e \(gate) ]; do sleep 0.01; done; exit \(status)",
            { try Data().write(to: URL(fileURLWithPath: gate)) }
        )
    }

    private func field(_ name: String, of id: String) throws -> String {
        let fields = try ctl("show", id).text.split(separator: "\n")
        let field = fields.first { $0.hasPrefix(name + "\t") }
        return field?.dropFirst(name.count + 1).description ?? ""
    }

    @Test("a task starts after others; where one of them fails it fails, and says why")
    func after() throws {
        let (good, bad) = (gated(), gated(3))
        let first = try run(script: good.script)
        let second = try run(script: bad.script)
        let said = try ctl("run", "--after", "\(first),\(second)", "--", "true")
        #expect(said.text.contains("starts when tasks \(first), \(second) have completed"))
        let third = try run("--after", first)
        let fourth = try run("--after-any", second, "--after", third)
        let why = try ctl("explain", fourth).text
        #expect(why.contains("it starts after tasks \(third), \(second)"), "\(why)")
        #expect(try ctl("list").text.contains("\tafter \(first)\t"))
        try good.open()
        #expect(try ctl("wait", third).status == 0)
        try bad.open()
        #expect(try ctl("wait", fourth).status == 0)
        let vain = try #require(said.text.split(separator: "\n").first { Int($0) != nil })
        #expect(try ctl("wait", String(vain)).status == 125)
        let reason = try field("reason", of: String(vain))
        #expect(
            reason == "it was to start after task \(second) had completed, which ended as failed")
        let refused = try ctl("run", "--after", second, "--", "true")
        #expect(refused.status == 1)
        #expect(refused.text.contains("task \(second) ended as failed"), "\(refused)")
        for wrong in ["0", "1,,2", ""] {
            #expect(try ctl("run", "--after", wrong, "--", "true").status == 64)
        }
        let unknown = try ctl("run", "--after", "nobody", "--", "true")
        #expect(unknown.status == 1)
        #expect(unknown.text.contains("there is no task nobody"), "\(unknown)")
    }

    @Test("a queued task is paused, changed and resumed; so is all that one has")
    func changes() throws {
        let id = try run("--paused")
        #expect(try field("waiting for", of: id) == "pausedTask")
        #expect(try ctl("edit", id, "--priority", "7", "--group", "net", "--in", "1h").status == 0)
        #expect(try field("group", of: id) == "net")
        #expect(try ctl("resume", id).status == 0)
        #expect(try field("waiting for", of: id).hasPrefix("earliestBegin"))
        #expect(try ctl("edit", id, "--in", "0s", "--group", "none", "--when", "none").status == 0)
        #expect(try ctl("wait", id).status == 0)
        let late = try ctl("edit", id, "--priority", "1")
        #expect(late.status == 1 && late.text.contains("has ended already"), "\(late)")
        #expect(try ctl("pause", "--all-mine").status == 0)
        let held = try run("--name", "held")
        #expect(try field("waiting for", of: held) == "pausedOwner")
        #expect(try ctl("pause", "held").status == 0)
        #expect(try ctl("resume", "--all-mine").status == 0)
        #expect(try field("waiting for", of: held) == "pausedTask")
        #expect(try ctl("resume", "held").status == 0)
        #expect(try ctl("wait", held).status == 0)
        for wrong in [["pause"], ["edit", id], ["pause", "--all-mine", id]] {
            let program = try Program(
                Programs.path("bgtaskctl"), wrong, variables: ["BGTASK_SOCKET": daemon.socket])
            #expect(program.waitForEnd().status == 64)
        }
    }

    @Test("the number of slots is changed at once, and back to that of the settings")
    func slotOrders() throws {
        #expect(try ctl("slots").text == "2\nnet\t1\n")
        let gate = gated()
        let ids = try (0..<3).map { _ in try run(script: gate.script) }
        #expect(try field("state", of: ids[2]) == "queued")
        #expect(try ctl("slots", "3", "--keep").status == 0)
        _ = try ctl("slots", "2", "--group", "net")
        #expect(try ctl("slots").text == "3\nnet\t2\n")
        #expect(try ctl("slots", "--group", "net").text == "2\n")
        #expect(try field("waiting for", of: ids[2]) != "slots")
        #expect(try ctl("status").text.contains("queue.slots\t3\tbgtaskctl slots"))
        try gate.open()
        #expect(try ctl("slots", "--reset").status == 0)
        #expect(try ctl("slots").text == "2\nnet\t2\n")
        let refused = try ctl("slots", "2", "--group", "none")
        #expect(refused.status == 1 && refused.text.contains("there is no group none"))
        #expect(try ctl("slots", "0").status == 64)
    }

    @Test("a command reads a file as its standard input, at each attempt from the beginning")
    func input() throws {
        let file = daemon.folder + "/input"
        var bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        try bytes.write(to: URL(fileURLWithPath: file))
        let sums = "sha256sum; [ $BGTASK_ATTEMPT = 2 ]"
        let id = try run(
            "--input", file, "--attempts", "2", "--retry-delay", "0s", script: sums)
        #expect(try ctl("wait", id).status == 0)
        let logs = try ctl("logs", id).text.split(separator: "\n")
        #expect(logs.count == 2 && logs.first == logs.last)
        let check = try Program("/usr/bin/sha256sum", [file], variables: [:]).waitForEnd()
        #expect(check.text.hasPrefix(try #require(logs.first?.prefix(64))))
        // Without it there is nothing to read.
        let empty = try run(script: "cat")
        #expect(try ctl("wait", empty).status == 0)
        bytes = Data(count: 1_048_577)
        try bytes.write(to: URL(fileURLWithPath: file))
        let refused = try ctl("run", "--input", file, "--", "cat")
        #expect(refused.status == 1 && refused.text.contains("longer than 1 MiB"), "\(refused)")
        #expect(try ctl("run", "--input", "/nowhere", "--", "cat").text.contains("cannot read"))
    }

    @Test("a command runs when a task has ended, with its number, name and outcome")
    func onEnd() throws {
        let script = "echo $BGTASK_ENDED_ID $BGTASK_ENDED_NAME $BGTASK_ENDED_OUTCOME"
        let id = try run("--name", "nightly build", "--on-end", script, script: "exit 3")
        #expect(try ctl("wait", id, "nightly build end").status == 3)
        #expect(try ctl("logs", "nightly build end").text == "\(id) nightly build failed\n")
        let after = try run("--after-any", id, script: "echo $BGTASK_AFTER")
        #expect(try ctl("wait", after).status == 0)
        #expect(try ctl("logs", after).text == "\(id)=failed\n")
    }

    @Test("a program that is not there is told at the submission, and --follow leaves stdout alone")
    func submission() throws {
        let missing = try ctl("run", "no-such-program")
        #expect(missing.text.contains("there is no program no-such-program in /usr"), "\(missing)")
        #expect(try ctl("run", "./nowhere").text.contains("/nowhere; the task fails if it is not"))
        let shown = try ctl("run", "--follow", "echo", "fine")
        #expect(shown.text.contains("task ") && shown.text.hasSuffix("fine\n"), "\(shown)")
        #expect(try ctl("run", "--follow", "--quiet", "echo", "fine").text == "fine\n")
    }

    @Test("a task that takes several slots waits until they are free")
    func slots() throws {
        let gate = gated()
        let first = try run(script: gate.script)
        let wide = try run("--slots", "2")
        let narrow = try run()
        #expect(try ctl("explain", wide).text.contains("it needs 2 slots, and fewer are free"))
        #expect(
            try ctl("explain", narrow).text.contains(
                "a task of the same user that needs several slots comes first"))
        try gate.open()
        #expect(try ctl("wait", first, wide, narrow).status == 0)
        let refused = try ctl("run", "--slots", "3", "--", "true")
        #expect(refused.text.contains("no task can use more slots than there are"), "\(refused)")
    }
}
