import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

/// What `run` asks of the queue, and what it says of the receipt.
@Suite struct QueueOptionTests {
    private func receipt(
        _ receipt: Tasks.Receipt, id: Int = 7, notBeforeMs: Int? = nil
    ) -> Tasks.Submit.Output {
        var output = Tasks.Submit.Output()
        output.id = id
        output.receipt = receipt
        output.notBeforeMs = notBeforeMs
        return output
    }

    @Test("run sends each option of the queue, and nothing of what is not given")
    func submits() throws {
        let answer = receipt(.accepted)
        let daemon = try FakeDaemon { $0.expect(Tasks.Submit.self, reply: answer) }
        let run = try CommandRun(
            daemon, "run", "--name", "true", "--directory", "/", "--group", "uploads", "--priority",
            "-5", "--in",
            "10min", "--when", "idle", "--when", "external-power", "--when", "idle",
            "--minimum-interval", "600s", "--unique", "keep", "--attempts", "3", "--retry-delay",
            "5s", "--retry-interrupted", "--", "true")
        #expect(run.finish() == 0)
        #expect(run.output == "7\n")
        #expect(run.errors == "")
        let work = try #require(daemon.parameters(of: Tasks.Submit.self).first?["work"])
        #expect(
            work.text
                == #"{"name":"true","command":["true"],"directory":"/","group":"uploads","#
                + #""priority":-5,"earliestBeginMs":600000,"conditions":["externalPower","idle"],"#
                + #""minimumIntervalMs":600000,"unique":"keep","#
                + #""retry":{"attempts":3,"delayMs":5000,"onInterruption":true}}"#)
        let plain = try CommandRun(daemon, "run", "--directory", "/", "--", "true")
        #expect(plain.finish() == 0)
        #expect(
            daemon.parameters(of: Tasks.Submit.self).last?["work"]?.text
                == #"{"name":"true","command":["true"],"directory":"/"}"#)
    }

    @Test(
        "the receipt is told on standard error, and the id stays the first line",
        arguments: [
            (.coalesced, nil, "task 12 of that name is used instead"),
            (.deferred, 581_000, "task 12 is held back for at least 9min 41s"),
            (.deferred, nil, "task 12 is held back; bgtaskctl explain 12 says why"),
        ] as [(Tasks.Receipt, Int?, String)])
    func receipts(_ kind: Tasks.Receipt, _ notBeforeMs: Int?, _ line: String) throws {
        let answer = receipt(kind, id: 12, notBeforeMs: notBeforeMs)
        let daemon = try FakeDaemon { $0.expect(Tasks.Submit.self, reply: answer) }
        let run = try CommandRun(daemon, "run", "--", "true")
        #expect(run.finish() == 0)
        #expect(run.output == "12\n")
        #expect(run.errors == "bgtaskctl: \(line)\n")
    }

    @Test(
        "what cannot be is refused before the daemon is asked, with the option's name",
        arguments: [
            (["--retry-delay", "5s"], "--retry-delay needs --attempts"),
            (["--retry-interrupted"], "--retry-interrupted needs --attempts"),
            (["--attempts", "0"], "--attempts is a number from 1 to 100, the first included"),
            (["--attempts", "101"], "--attempts is a number from 1 to 100, the first included"),
            (["--priority", "1001"], "--priority is a number from -1000 to 1000"),
            (["--attempts", "2", "--retry-delay", "301min"], "--retry-delay is 5h at most"),
            (["--group", ""], "the name of --group is empty"),
            (["--in", "infinity"], "a task can be held back for 366d at most"),
            (["--in", "367d"], "a task can be held back for 366d at most"),
            (["--minimum-interval", "-1s"], "--minimum-interval"),
            (["--when", "externalPower"], "external-power"),
            (["--unique", "both"], "keep"),
        ])
    func refuses(_ options: [String], _ part: String) throws {
        let run = try CommandRun(
            [CommandRun.program, "run"] + options + ["--", "true"], ["BGTASK_SOCKET=/nowhere"])
        #expect(run.finish() == 64)
        #expect(run.errors.contains(part))
        #expect(run.errors.split(separator: "\n").count == 1)
    }

    @Test("a task that would come after one that has failed is refused with what else can be done")
    func afterFailed() throws {
        var ended = Tasks.AlreadyEnded()
        (ended.id, ended.outcome) = (4, .failed)
        let refusal = ended
        let daemon = try FakeDaemon { if $0.nextCall() != nil { $0.refuse(refusal) } }
        let run = try CommandRun(daemon, "run", "--after", "4", "--", "true")
        #expect(run.finish() == 1)
        #expect(run.output == "")
        #expect(run.errors.contains("task 4 ended as failed"))
        #expect(run.errors.contains("--after-any 4"))
    }

    @Test("the longest time that a task can be held back is taken")
    func longest() throws {
        #expect(try SpanOption.delay("366d") == 366 * 86_400_000)
        #expect(try SpanOption.delay("0s") == 0)
    }
}

@Suite struct GroupTests {
    private func groups() -> Tasks.Groups.Output {
        var output = Tasks.Groups.Output()
        for (name, slots, isPaused) in [("mail", 1, false), ("uploads", 12, true)] {
            var group = Tasks.Group()
            group.name = name
            group.slots = slots
            group.running = slots - 1
            group.queued = 40
            group.paused = isPaused
            output.groups.append(group)
        }
        return output
    }

    @Test(
        "group lists the groups, with and without its verb, and takes options before and after it",
        arguments: [
            ["group"], ["group", "list"], ["--system", "group", "list"], ["group", "--system"],
            ["group", "list", "--system"], ["group", "--system", "list"],
        ])
    func lists(arguments: [String]) throws {
        let answer = groups()
        let daemon = try FakeDaemon { $0.expect(Tasks.Groups.self, reply: answer) }
        let words = arguments.flatMap { $0 == "--system" ? ["--socket", daemon.path] : [$0] }
        let run = try CommandRun([CommandRun.program] + words, ["BGTASK_SOCKET=\(daemon.path)"])
        #expect(run.finish() == 0)
        #expect(run.errors == "")
        #expect(run.output == "mail\t1\t0\t40\topen\nuploads\t12\t11\t40\tpaused\n")
    }

    @Test("a person sees the groups as a table")
    func table() {
        let text = GroupText.table(groups().groups).text(.terminal(width: 80, colour: false))
        #expect(
            text.split(separator: "\n") == [
                "GROUP    SLOTS  RUNNING  QUEUED  STATE",
                "mail         1        0      40  open",
                "uploads     12       11      40  paused",
            ])
    }

    @Test("group list --json has one group a line")
    func json() throws {
        let answer = groups()
        let daemon = try FakeDaemon { $0.expect(Tasks.Groups.self, reply: answer) }
        let run = try CommandRun(daemon, "--json", "group", "list")
        #expect(run.finish() == 0)
        #expect(run.output == answer.groups.map { JSONLine.text($0) }.joined())
    }

    @Test("group pause and group resume name the group, and say nothing where all is well")
    func orders() throws {
        let daemon = try FakeDaemon { peer in
            while peer.nextCall() != nil { peer.send(Empty()) }
        }
        for verb in ["pause", "resume"] {
            let run = try CommandRun(daemon, "group", verb, "uploads")
            #expect(run.finish() == 0)
            #expect(run.output + run.errors == "")
        }
        let expected = #"{"group":"uploads"}"#
        #expect(daemon.parameters(of: Tasks.PauseGroup.self).map(\.text) == [expected])
        #expect(daemon.parameters(of: Tasks.ResumeGroup.self).map(\.text) == [expected])
    }

    @Test("on a terminal an order to a group says what it has done, and elsewhere nothing")
    func ordered() {
        let terminal = Style.terminal(width: 80, colour: false)
        #expect(GroupText.ordered("video", isPaused: true, terminal) == "video is paused\n")
        #expect(GroupText.ordered("video", isPaused: false, terminal) == "video goes on\n")
        #expect(
            GroupText.ordered("a\u{1B}b\n", isPaused: true, terminal) == "a\\x1bb\\x0a is paused\n")
        #expect(GroupText.ordered("video", isPaused: true, .plain) == "")
    }

    @Test("an unknown group is one line that says where to look")
    func unknown() throws {
        let daemon = try FakeDaemon { peer in
            while peer.nextCall() != nil {
                var error = Tasks.NoSuchGroup()
                error.group = "uplaods"
                peer.refuse(error)
            }
        }
        let line = "bgtaskctl: there is no group uplaods; bgtaskctl group list names them\n"
        for arguments in [
            ["group", "pause", "uplaods"], ["run", "--group", "uplaods", "--", "true"],
        ] {
            let run = try CommandRun(
                [CommandRun.program] + arguments, ["BGTASK_SOCKET=\(daemon.path)"])
            #expect(run.finish() == 1)
            #expect(run.errors == line)
        }
    }

    @Test("a verb that group does not have is wrong usage, in one line")
    func wrongVerb() throws {
        let run = try CommandRun(
            [CommandRun.program, "group", "stop", "x"], ["BGTASK_SOCKET=/nowhere"])
        #expect(run.finish() == 64)
        #expect(run.errors.hasSuffix("see: bgtaskctl help group\n"))
        #expect(run.errors.split(separator: "\n").count == 1)
    }
}
