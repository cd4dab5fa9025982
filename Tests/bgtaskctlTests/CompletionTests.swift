import Foundation
import TaskAPI
import TestKit
import Testing
import Varlink
import TaskControl

/// What bash completes, by the scripts that are installed, in a bash of its own.
@Suite struct CompletionTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../config/completions/bgtaskctl.bash").path

    /// A daemon with two live tasks, one that has ended, profiles, groups and an application.
    private func daemon(named names: [String] = ["upload", "nightly backup"]) throws -> FakeDaemon {
        var live = Tasks.List.Output()
        live.tasks = names.enumerated().map { Self.task(41 + $0.offset, $0.element) }
        var ended = Tasks.History.Output()
        ended.tasks = [Self.task(7, "report")]
        var groups = Tasks.Groups.Output()
        groups.groups = ["mail", "uploads"].map {
            var group = Tasks.Group()
            group.name = $0
            return group
        }
        var description = Manager.Describe.Output()
        description.profiles = ["default", "extended", "long"].map {
            var profile = Manager.Profile()
            profile.name = $0
            return profile
        }
        var applications = Applications.List.Output()
        var application = Applications.Application()
        application.id = "mailer"
        applications.applications = [application]
        let answers = (live, ended, groups, description, applications)
        return try FakeDaemon { peer in
            while let call = peer.nextCall() {
                switch call.method {
                case Tasks.List.name: peer.send(answers.0)
                case Tasks.History.name: peer.send(answers.1)
                case Tasks.Groups.name: peer.send(answers.2)
                case Manager.Describe.name: peer.send(answers.3)
                default: peer.send(answers.4)
                }
            }
        }
    }

    private static func task(_ id: Int, _ name: String) -> Tasks.Task {
        var task = Tasks.Task()
        task.id = id
        task.name = name
        return task
    }

    /// What bash offers where the cursor is behind this line.
    private func offers(_ line: String, socket: String) throws -> (words: [String], errors: String)
    {
        let bash = """
            PATH=\(Programs.folder):$PATH
            . <(bgtaskctl --generate-completion-script bash)
            . \(Self.script)
            set -- $(complete -p bgtaskctl)
            COMP_LINE=$LINE COMP_POINT=${#LINE}
            read -ra COMP_WORDS <<<"$LINE"
            [[ $LINE == *' ' ]] && COMP_WORDS+=('')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            # complete -F FUNCTION bgtaskctl
            "$3" bgtaskctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            if ((${#COMPREPLY[@]})); then printf '%s\\n' "${COMPREPLY[@]}"; fi
            """
        let run = try CommandRun(
            ["/bin/bash", "--norc", "-c", bash],
            ["PATH=/usr/bin:/bin", "BGTASK_SOCKET=\(socket)", "LINE=\(line)"])
        #expect(run.finish() == 0)
        return (run.output.split(separator: "\n").map(String.init), run.errors)
    }

    @Test(
        "bash completes what the daemon knows",
        arguments: [
            ("cancel ", ["41", "42", "upload"]),
            ("cancel 4", ["41", "42"]),
            ("cancel u", ["upload"]),
            ("cancel 41 4", ["41", "42"]),
            ("show ", ["41", "42", "7", "report", "upload"]),
            ("logs re", ["report"]),
            ("wait 7", ["7"]),
            ("end ", ["41", "42"]),
            ("watch ", ["41", "42"]),
            ("list --name re", ["report"]),
            ("run --profile ", ["default", "extended", "long"]),
            ("run --group u", ["uploads"]),
            ("cancel --group ", ["mail", "uploads"]),
            ("group pause ", ["mail", "uploads"]),
            ("begin --application ", ["mailer"]),
            ("app launch m", ["mailer"]),
            ("introspect ", ["org.varlink.service"]),
        ])
    func words(_ line: String, _ expected: [String]) throws {
        let daemon = try daemon()
        let offered = try offers("bgtaskctl \(line)", socket: daemon.path)
        #expect(offered.words.sorted() == expected)
        #expect(offered.errors == "")
    }

    @Test(
        "bash completes what needs no daemon without one, and says nothing of what does",
        arguments: [
            ("cancel --signal SIGH", ["SIGHUP"]), ("run --on-expiry no", ["none"]),
            ("list --outcome ov", ["overrun"]), ("list --state ru", ["running"]),
            ("cancel ", []), ("run --profile ", []), ("--user cancel ", []),
        ])
    func alone(_ line: String, _ expected: [String]) throws {
        let offered = try offers("bgtaskctl \(line)", socket: "/nonexistent/socket")
        #expect(offered.words == expected)
        #expect(offered.errors == "")
    }

    @Test("bash completes commands and files behind --, and only there")
    func commands() throws {
        for (line, expected) in [
            ("run -- printe", ["printenv"]), ("run --wait -- printe", ["printenv"]),
            ("hold -- cat /etc/passw", ["/etc/passwd"]),
            ("--user app register x -- /bin/printe", ["/bin/printenv"]),
            ("run printe", []), ("run -- bgtaskctl --wai", []),
        ] {
            let offered = try offers("bgtaskctl \(line)", socket: "/nonexistent/socket")
            #expect(offered.words.filter { !$0.hasSuffix("-") } == expected, "\(line)")
            #expect(offered.errors == "")
        }
    }

    @Test("bash asks the daemon that the line names")
    func socket() throws {
        let daemon = try daemon()
        for option in ["--socket \(daemon.path)", "--socket '\(daemon.path)'"] {
            let line = "bgtaskctl cancel \(option) u"
            #expect(try offers(line, socket: "/nonexistent/socket").words == ["upload"])
        }
    }

    @Test("a task whose name needs quotes in a shell is completed by its number alone")
    func hostileNames() throws {
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/socket"
        let names = [
            "$(touch \(file))", "`touch \(file)`", "';touch \(file);'", "'\u{301};touch \(file)",
            "a\\b", "{x,y}", "~", "$HOME", "two\u{200B}words", "--all", "\u{1B}[2J", "Büro/日本:a",
        ]
        let daemon = try daemon(named: names)
        let offered = try offers("bgtaskctl cancel ", socket: daemon.path)
        #expect(offered.words.sorted() == (41..<53).map(String.init) + ["Büro/日本:a"])
        #expect(offered.errors == "")
        #expect(access(file, F_OK) != 0)
    }

    @Test("each shell gets a candidate as its script takes it")
    func lines() throws {
        let candidate = try #require(Candidate("mail:\u{301}a", "two\nlines"))
        #expect(candidate.line(for: "bash") == "mail:\u{301}a")
        #expect(candidate.line(for: "zsh") == "mail\\:\u{301}a:two\\x0alines")
        #expect(candidate.line(for: "fish") == "mail:\u{301}a\ttwo\\x0alines")
        #expect(candidate.line(for: nil) == "mail:\u{301}a")
        for word in ["", "--all", "=ls", "%self", "a b", "a\u{3000}b", "x\u{2019}", "~root", "a!!"]
        {
            #expect(Candidate(word) == nil, "\(word)")
        }
    }

    @Test(
        "a command line says which daemon and which tasks are meant",
        arguments: [
            (["show", "--socket", "/a b", "--all"], "show", "/a b", true),
            (["--socket", "=", "/a", "wait", "7"], "wait", "/a", false),
            (["cancel", "--socket='/a b'"], "cancel", "/a b", false),
            (["run", "--socket", #"/a\ b"#, "--", "--all"], "run", "/a b", false),
        ])
    func parsed(_ words: [String], _ verb: String, _ socket: String, _ isOfAll: Bool) throws {
        let line = try #require(CompletedLine(["bgtaskctl"] + words))
        #expect(line.verb == verb)
        #expect(line.socket == socket)
        #expect(line.isOfAll == isOfAll)
    }

    @Test("what only the shell can expand is no socket", arguments: ["$X", "~/s", "`x`", "\"$X\""])
    func unknownSocket(_ word: String) {
        #expect(CompletedLine(["bgtaskctl", "show", "--socket", word]) == nil)
    }
}
