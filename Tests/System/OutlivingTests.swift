import Foundation
import TestKit
import Testing

extension SystemTests {
    /// What the installed units promise: commands go on over each end of the daemon but a stop.
    @Suite("Commands that outlive the daemon")
    struct OutlivingTests {
        private typealias Stage = OutlivingStage

        @Test("go on over a restart, with their output, and the next daemon tells their end")
        func restart() throws {
            try Stage.begin()
            let id = try Stage.run()
            let daemon = try Stage.process(of: Service.name)
            let executor = try Stage.process(of: Stage.executor)
            try Installation.succeed(Box.execRaw("systemctl", "restart", Service.name))

            #expect(try Stage.process(of: Service.name) != daemon)
            #expect(try Stage.process(of: Stage.executor) == executor)
            #expect(try Stage.isAlive())
            #expect(try Service.call("show \(id)").output.contains("running"))
            try Stage.letGo(id)
            #expect(try Service.call("logs \(id)").output == "before\nafter\n")
            for message in ["handingOver", "handedOver", "takenOver"] {
                #expect(try Stage.countOnceTold(message) == 1, "\(message)")
            }
            #expect(try Stage.count(of: "outputLost") == 0)
        }

        @Test("go on over several restarts at once, and over one that nobody has asked systemd for")
        func restarts() throws {
            try Stage.begin()
            let id = try Stage.run()
            for _ in 0..<3 {
                try Installation.succeed(Box.execRaw("systemctl", "restart", Service.name))
            }
            // It ends in order, and the next call starts the next one.
            try Installation.succeed(Box.execRaw("kill", Stage.process(of: Service.name)))
            try Service.wait(for: "inactive", of: "ActiveState")
            #expect(try Stage.isAlive())
            #expect(try Service.call("show \(id)").output.contains("running"))
            try Stage.letGo(id)
            #expect(try Service.call("logs \(id)").output == "before\nafter\n")
            #expect(try Stage.countOnceTold("stopKindNotTold") == 1)
        }

        @Test("go on where the daemon is killed, and what is lost of their output is said")
        func kill() throws {
            try Stage.begin()
            let id = try Stage.run()
            try Box.wait(
                for: "before", from: "sh", "-c",
                "journalctl --sync; journalctl -q -o cat BGTASK_ID=\(id) BGTASK_STREAM=stdout")
            let executor = try Stage.process(of: Stage.executor)
            for _ in 0..<2 { try Stage.killDaemon() }

            #expect(try Stage.process(of: Stage.executor) == executor)
            #expect(try Stage.isAlive())
            try Stage.letGo(id)
            #expect(try Service.call("logs \(id)").output.hasSuffix("after\n"))
            #expect(try Stage.countOnceTold("outputLost") >= 1)
            // What it printed is in the journal once, by whichever daemon.
            let lines = try Installation.shell(
                "journalctl --sync; journalctl -q -o cat BGTASK_ID=\(id) BGTASK_STREAM=stdout")
            #expect(lines.line == "before\nafter", "\(lines)")
        }

        @Test("end at a stop, with their grace, and what ran them ends too")
        func stop() throws {
            try Stage.begin()
            let id = try Stage.run(Stage.obedientScript, "--budget 600s --grace 60s")
            #expect(try Box.execRaw("systemctl", "stop", Service.name).status == 0)
            #expect(try !Stage.isAlive())
            #expect(try Box.execRaw("test", "-e", "\(Stage.folder)/told").status == 0)
            try Box.wait(
                for: "inactive", from: "systemctl", "show", "-P", "ActiveState", Stage.executor)
            #expect(try Installation.property("Result", of: Stage.executor) == "success")
            #expect(try Stage.count(of: "handedOver") == 0)
            // The next call starts both.
            #expect(try Stage.outcome(of: id) == "interrupted")
            #expect(try Service.call("run --wait -- sh -c 'exit 7'").status == 7)
        }

        @Test("are warned and killed while no daemon is there, and the next one tells it as it was")
        func limits() throws {
            // It comes back when it is called, and not before.
            try Stage.begin(dropIn: "[Service]\nRestart=no\n")
            let script = """
                trap 'touch \(Stage.folder)/told' TERM
                echo $$ >\(Stage.folder)/process; echo before
                while :; do sleep 0.05; done
                """
            let id = try Stage.run(script, "--budget 40s --grace 15s")
            try Installation.succeed(
                Box.execRaw("systemctl", "kill", "--kill-who=main", "-s", "KILL", Service.name))
            try Service.wait(for: "failed", of: "ActiveState")
            try Stage.waitForMark("told")
            try Stage.waitForEnd()
            #expect(try Service.property("ActiveState") == "failed")

            #expect(try Service.call("wait \(id)").status == 124)
            let shown = try Service.call("show --json \(id)").output
            #expect(shown.contains(#""outcome":"overrun""#), "\(shown)")
            let used = try #require(shown.firstMatch(of: /"usedMs":([0-9]+)/))
            let usedMs = try #require(Int(used.1))
            #expect(usedMs >= 40_000, "a limit is never early")
        }

        @Test("are told as they ended where that was while no daemon was there")
        func ends() throws {
            try Stage.begin(dropIn: "[Service]\nRestart=no\n")
            let id = try Stage.run()
            try Installation.succeed(
                Box.execRaw("systemctl", "kill", "--kill-who=main", "-s", "KILL", Service.name))
            try Service.wait(for: "failed", of: "ActiveState")
            try Installation.succeed(Box.execRaw("touch", "\(Stage.folder)/go"))
            try Stage.waitForEnd()
            #expect(try Service.call("wait \(id)").status == 7)
            #expect(try Stage.outcome(of: id) == "failed")
            #expect(try Service.call("logs \(id)").output.hasSuffix("after\n"))
        }

        @Test("have their grace at a stop of what runs them, and the daemon goes on")
        func executorStops() throws {
            try Stage.begin()
            let id = try Stage.run(Stage.obedientScript, "--budget 600s --grace 60s")
            let daemon = try Stage.process(of: Service.name)
            #expect(try Box.execRaw("systemctl", "stop", Stage.executor).status == 0)
            #expect(try Box.execRaw("test", "-e", "\(Stage.folder)/told").status == 0)
            #expect(try !Stage.isAlive())
            _ = try Service.call("wait \(id)")
            #expect(try !Service.call("show \(id)").output.contains("running"))
            // The socket starts it again.
            #expect(try Service.call("run --wait -- sh -c 'exit 7'").status == 7)
            #expect(try Stage.process(of: Service.name) == daemon)
        }

        @Test(
            "are interrupted where what runs them is killed, and the daemon goes on with the next")
        func executorKilled() throws {
            try Stage.begin()
            let id = try Stage.run()
            let daemon = try Stage.process(of: Service.name)
            try Installation.succeed(
                Box.execRaw("systemctl", "kill", "--kill-who=main", "-s", "KILL", Stage.executor))
            try Stage.waitForEnd()
            _ = try Service.call("wait \(id)")
            #expect(try Stage.outcome(of: id) == "interrupted")
            #expect(try Service.call("run --wait -- sh -c 'exit 7'").status == 7)
            #expect(try Stage.process(of: Service.name) == daemon)
            #expect(try Stage.countOnceTold("executorLost") == 1)
            #expect(try Stage.countOnceTold("executorFound") >= 1)
        }

        @Test("are seen by bgtaskctl status to be run by another program")
        func status() throws {
            try Stage.begin()
            let status = try Service.call("status").output.split(separator: "\n")
            let line = status.first { $0.contains("executor") }
            #expect(line?.contains("connected") == true, "\(status)")
        }

        @Test("of a user's daemon go on over a restart as well, and end with the user's manager")
        func user() throws {
            defer { try? BoxUser.stop() }
            try Installation.prepare()
            try BoxUser.linger()
            try Installation.install()
            try Installation.succeed(
                BoxUser.shell(
                    """
                    systemctl --user --quiet enable --now bgtaskd.socket
                    bgtaskctl --user run --budget 600s --grace 1s -- sleep 7800
                    """))
            try Box.wait(for: "1", from: "sh", "-c", "pgrep -fc '^sleep 7800'")
            let process = try Box.execRaw("pgrep", "-f", "^sleep 7800").line
            try Installation.succeed(BoxUser.shell("systemctl --user restart bgtaskd.service"))
            #expect(try Box.execRaw("pgrep", "-f", "^sleep 7800").line == process)
            #expect(try BoxUser.shell("bgtaskctl --user list").output.contains("sleep 7800"))
            try BoxUser.stop()
            #expect(try Box.execRaw("pgrep", "-u", "\(BoxUser.uid)").status == 1)
        }
    }
}
