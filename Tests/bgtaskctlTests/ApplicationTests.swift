import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite("The verbs of applications")
struct ApplicationTests {
    private func run(_ daemon: FakeDaemon, _ arguments: [String]) throws -> CommandRun {
        try CommandRun([CommandRun.program] + arguments, ["BGTASK_SOCKET=\(daemon.path)"])
    }

    /// A daemon that answers every order with the same application.
    private func orderly() throws -> FakeDaemon {
        try FakeDaemon { peer in
            while peer.nextCall() != nil {
                peer.send(Sample.answer(Sample.application { $0.state = .active }))
            }
        }
    }

    private func orders(of method: String, to daemon: FakeDaemon) -> [String] {
        switch method {
        case "launch": daemon.parameters(of: Applications.Launch.self).map(\.text)
        case "activate": daemon.parameters(of: Applications.Activate.self).map(\.text)
        case "resign": daemon.parameters(of: Applications.Resign.self).map(\.text)
        case "background": daemon.parameters(of: Applications.EnterBackground.self).map(\.text)
        default: daemon.parameters(of: Applications.Terminate.self).map(\.text)
        }
    }

    @Test(
        "an order names the application, and says how it is then",
        arguments: ["launch", "activate", "resign", "background", "terminate"])
    func orders(verb: String) throws {
        let daemon = try orderly()
        let run = try run(daemon, ["app", verb, "player"])
        #expect(run.finish() == 0)
        #expect(run.output + run.errors == "player is active\n")
        #expect(orders(of: verb, to: daemon) == [#"{"id":"player"}"#])
        let json = try self.run(daemon, ["--json", "app", verb, "player"])
        #expect(json.finish() == 0)
        let application = Sample.application { $0.state = .active }
        #expect(timeless(json.output) == timeless(JSONLine.text(application)))
    }

    @Test("register sends each option, the directory and the variables, and nothing not given")
    func registers() throws {
        let daemon = try orderly()
        let full = try CommandRun(
            [
                "/bin/sh", "-c", #"cd /usr && exec "$0" "$@""#, CommandRun.program, "app",
                "register", "player", "--exits-on-suspend", "--background-mode", "--profile",
                "extended", "--handles", "willTerminate", "--handles", "didEnterBackground",
                "--handles", "willTerminate", "--env", "A=b=c", "--env", "OWN", "--", "./player",
                "--quiet",
            ], ["BGTASK_SOCKET=\(daemon.path)", "OWN=1"])
        #expect(full.finish() == 0)
        #expect(full.output + full.errors == "player is registered; it is active\n")
        let plain = try run(daemon, ["app", "register", "player"])
        #expect(plain.finish() == 0)
        #expect(
            daemon.parameters(of: Applications.Register.self).map(\.text) == [
                #"{"registration":{"id":"player","command":["./player","--quiet"],"#
                    + #""directory":"/usr","environment":{"A":"b=c","OWN":"1"},"#
                    + #""exitsOnSuspend":true,"backgroundMode":true,"profile":"extended","#
                    + #""handles":["didEnterBackground","willTerminate"]}}"#,
                #"{"registration":{"id":"player"}}"#,
            ])
    }

    @Test("adopt sends the processes")
    func adopts() throws {
        let daemon = try orderly()
        let run = try run(daemon, ["app", "adopt", "player", "4711", "4712"])
        #expect(run.finish() == 0)
        #expect(run.output == "player is active\n")
        #expect(
            daemon.parameters(of: Applications.Adopt.self).map(\.text)
                == [#"{"id":"player","pids":[4711,4712]}"#])
    }

    @Test("unregister, badge and delivered say what they have done")
    func small() throws {
        let daemon = try FakeDaemon { peer in
            while peer.nextCall() != nil { peer.send(Empty()) }
        }
        for (arguments, line) in [
            (["unregister", "player"], "player is no longer registered"),
            (["badge", "player", "3"], "player has badge 3"),
            (["badge", "player", "0"], "player has no badge"),
            (["delivered", "player", "12"], "player is done with delivery 12"),
        ] {
            let run = try run(daemon, ["app"] + arguments)
            #expect(run.finish() == 0)
            #expect(run.output + run.errors == line + "\n")
        }
        #expect(
            daemon.parameters(of: Applications.Unregister.self).map(\.text)
                == [#"{"id":"player"}"#])
        #expect(
            daemon.parameters(of: Applications.SetBadge.self).map(\.text)
                == [#"{"id":"player","badge":3}"#, #"{"id":"player","badge":0}"#])
        #expect(
            daemon.parameters(of: Applications.Delivered.self).map(\.text)
                == [#"{"id":"player","deliveryId":12}"#])
    }

    @Test("list takes the options before and after the verb, and without it")
    func lists() throws {
        let daemon = try FakeDaemon { peer in
            var reply = Applications.List.Output()
            reply.applications = [Sample.application()]
            peer.expect(Applications.List.self, reply: reply)
        }
        let line = "player\tbackground\t1\t2min 55s\t5s\t2\t4711,4712\t-\n"
        let whole = line.replacing("player", with: "player\t1000")
        let json = timeless(JSONLine.text(Sample.application()))
        for (arguments, output) in [
            (["app"], line), (["app", "list"], line), (["app", "list", "--all"], whole),
            (["--json", "app", "list"], json), (["app", "--json"], json),
        ] {
            let run = try run(daemon, arguments)
            #expect(run.finish() == 0)
            #expect(timeless(run.output) + run.errors == output)
        }
        #expect(
            daemon.parameters(of: Applications.List.self).map(\.text)
                == ["{}", "{}", #"{"all":true}"#, "{}", "{}"])
    }

    @Test("show and explain tell all of one application")
    func shows() throws {
        let daemon = try FakeDaemon { peer in
            peer.expect(Applications.Show.self, reply: Sample.answer(Sample.application()))
        }
        let run = try run(daemon, ["app", "show", "player"])
        #expect(run.finish() == 0)
        #expect(run.output == ApplicationText.fields(Sample.application()).text(.plain))
        let explaining = try FakeDaemon { peer in
            var reply = Applications.Explain.Output()
            var explanation = Applications.Explanation()
            explanation.rule = "suspendAfter"
            explanation.text = "it has no task"
            explanation.value = 5000
            explanation.earliestChangeMs = 2000
            reply.explanations = [explanation]
            peer.expect(Applications.Explain.self, reply: reply)
        }
        let explain = try self.run(explaining, ["app", "explain", "player"])
        #expect(explain.finish() == 0)
        #expect(explain.output == "suspendAfter\t5s\t2s\tit has no task\n")
    }

    @Test("push sends what is said, and its status tells what became of it")
    func pushes() throws {
        for (receipt, status) in [
            (Applications.Receipt.delivered, Int32(0)), (.deferred, 0), (.dropped, 2),
        ] {
            let daemon = try FakeDaemon { peer in
                var reply = Applications.Push.Output()
                reply.receipt = receipt
                peer.expect(Applications.Push.self, reply: reply)
            }
            let run = try run(
                daemon,
                [
                    "app", "push", "player", "--tapped", "--payload", #"{"b":[1,null],"a":{}}"#,
                    "--badge", "4",
                ])
            #expect(run.finish() == status)
            #expect(run.output.hasPrefix(receipt.rawValue))
            #expect(run.errors == "")
            let silent = try self.run(daemon, ["--json", "app", "push", "player", "--silent"])
            #expect(silent.finish() == status)
            #expect(silent.output == #"{"receipt":"\#(receipt.rawValue)"}"# + "\n")
            #expect(
                daemon.parameters(of: Applications.Push.self).map(\.text) == [
                    #"{"id":"player","kind":"alert","action":"tapped","#
                        + #""payload":{"b":[1,null],"a":{}},"badge":4}"#,
                    #"{"id":"player","kind":"silent","action":"none"}"#,
                ])
        }
    }

    @Test("simulate-memory-pressure prints the ids, one a line")
    func pressure() throws {
        let daemon = try FakeDaemon { peer in
            var reply = Applications.SimulateMemoryPressure.Output()
            reply.terminated = ["player", "clo\u{1B}ck"]
            peer.expect(Applications.SimulateMemoryPressure.self, reply: reply)
        }
        let run = try run(daemon, ["simulate-memory-pressure", "--count", "2"])
        #expect(run.finish() == 0)
        #expect(run.output + run.errors == "player\nclo\\x1bck\n")
        #expect(
            daemon.parameters(of: Applications.SimulateMemoryPressure.self).map(\.text)
                == [#"{"count":2}"#])
    }
}
