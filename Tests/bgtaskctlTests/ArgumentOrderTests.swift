import Testing
import TaskControl

@Suite struct ArgumentOrderTests {
    @Test("options of every verb before the verb go right behind it")
    func moves() {
        let given = ["--socket", "/tmp/s", "--user", "list", "--ended"]
        #expect(
            ArgumentOrder.verbFirst(given) == ["list", "--socket", "/tmp/s", "--user", "--ended"])
        #expect(ArgumentOrder.verbFirst(["--socket=/s", "status"]) == ["status", "--socket=/s"])
        #expect(ArgumentOrder.verbFirst(["--no-pager", "list"]) == ["list", "--no-pager"])
    }

    @Test("what follows the verb stays as it is, a command's options included")
    func leavesTheRest() {
        let given = ["run", "--json", "--", "tool", "--socket", "x", "--user"]
        #expect(ArgumentOrder.verbFirst(given) == given)
        #expect(
            ArgumentOrder.verbFirst(["--json"] + ["run", "--", "tool", "--json"])
                == ["run", "--json", "--", "tool", "--json"])
    }

    @Test("nothing is moved past a -- that comes before any verb")
    func stopsAtTerminator() {
        let given = ["--json", "--", "run"]
        #expect(ArgumentOrder.verbFirst(given) == given)
    }

    @Test("of a verb with verbs of its own they go behind those")
    func movesBehindTheSecondVerb() {
        let expected = ["group", "pause", "--socket", "/s", "--json", "uploads"]
        for given in [
            ["--socket", "/s", "--json", "group", "pause", "uploads"],
            ["--socket", "/s", "group", "--json", "pause", "uploads"],
        ] {
            #expect(ArgumentOrder.verbFirst(given) == expected)
        }
        #expect(ArgumentOrder.verbFirst(["--json", "group"]) == ["group", "--json"])
        #expect(ArgumentOrder.verbFirst(["group", "--help"]) == ["group", "--help"])
        let verb = ["cancel", "7", "--reason", "group"]
        #expect(ArgumentOrder.verbFirst(verb) == verb)
    }

    @Test("other options before the verb stay there for ArgumentParser to refuse")
    func keepsUnknown() {
        #expect(
            ArgumentOrder.verbFirst(["--wait", "--json", "run"]) == ["--wait", "run", "--json"])
    }

    @Test("without a verb, or before help, options of every verb are left out")
    func dropsWhatNothingTakes() {
        #expect(ArgumentOrder.verbFirst(["--json", "--version"]) == ["--version"])
        #expect(ArgumentOrder.verbFirst(["--json", "help", "run"]) == ["help", "run"])
    }

    @Test("a path that is missing behind --socket is left for ArgumentParser to refuse")
    func leavesHalfAnOption() {
        #expect(ArgumentOrder.verbFirst(["--socket"]) == ["--socket"])
    }

    @Test("a usage error is one line that says where to look")
    func usageLine() {
        #expect(
            UsageText.line("Missing expected argument '<id>'\n\nUsage: x", verb: "show")
                == "Missing expected argument '<id>'; see: bgtaskctl help show")
        #expect(
            UsageText.line("Unexpected argument 'lits'", verb: "lits")
                == "there is no command lits; did you mean list?")
        #expect(
            UsageText.line("2 unexpected arguments: 'cancle', '7'", verb: "cancle")
                == "there is no command cancle; did you mean cancel?")
        #expect(
            UsageText.line("x", verb: "zzz") == "there is no command zzz; see: bgtaskctl --help")
        #expect(
            UsageText.line("a <command> is missing", verb: "app register")
                == "a <command> is missing; write it as in: bgtaskctl app register ID -- sleep 5")
    }
}
