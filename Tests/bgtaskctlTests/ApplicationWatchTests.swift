import Glibc
import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite("Following applications, and what is refused")
struct ApplicationWatchTests {
    @Test(
        "watch shows the present states first, tells of a gap, and Ctrl-C ends it as it ends watch")
    func watches() throws {
        let daemon = try FakeDaemon { peer in
            guard peer.nextCall() != nil else { return }
            for event in [
                Sample.transition(1, .active, .active),
                Sample.transition(5, .active, .inactive, .willResignActive),
            ] {
                var reply = Applications.Watch.Output()
                reply.event = event
                peer.send(reply, continues: true)
            }
            peer.waitForClose()
        }
        let run = try CommandRun(daemon, "app", "watch", "player")
        run.wait { $0.output.contains("willResignActive") && $0.errors.contains("\n") }
        kill(run.processID, SIGINT)
        #expect(run.finish() == 128 + SIGINT)
        #expect(run.errors == "bgtaskctl: 3 events missed\n")
        let lines = run.output.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0].hasSuffix("\tplayer\tactive\tactive\t-\t"))
        #expect(lines[1].hasSuffix("\tplayer\tactive\tinactive\twillResignActive\t"))
        #expect(
            daemon.parameters(of: Applications.Watch.self).map(\.text) == [#"{"id":"player"}"#])
    }

    @Test("watch --json has one event a line, with when it came")
    func json() throws {
        let event = Sample.transition(1, .active, .active)
        let daemon = try FakeDaemon { peer in
            var reply = Applications.Watch.Output()
            reply.event = event
            peer.expect(Applications.Watch.self, reply: reply)
        }
        let run = try CommandRun(daemon, "app", "watch", "--all", "--json")
        #expect(run.finish() == 0)
        #expect(timeless(run.output) == JSONLine.text(event))
        #expect(run.output.contains(#","at":""#))
        #expect(daemon.parameters(of: Applications.Watch.self).map(\.text) == [#"{"all":true}"#])
    }

    @Test(
        "what cannot be is refused before the daemon is asked, in one line",
        arguments: [
            (["push", "x", "--tapped", "--opened"], "not both"),
            (["push", "x", "--silent", "--tapped"], "--silent"),
            (["push", "x", "--payload", "[1]"], "no object"),
            (["push", "x", "--payload", "{1"], "no JSON"),
            (["push", "x", "--badge", "many"], "--badge"),
            (["adopt", "x"], "<pid>"), (["adopt", "x", "0"], "0 is no process"),
            (["register", "x", "--handles", "didSleep"], "badgeChanged"),
            (["register", "x", "--env", "A=b"], "--env is for a <command>"),
            (["register", "x", "sleep", "5"], "bgtaskctl app register ID -- sleep 5"),
            (["register", "x", "--env", "=b", "--", "true"], "has no name"),
            (["watch", "x", "--all"], "not both"),
            (["show"], "see: bgtaskctl help app show"),
            (["freeze", "x"], "see: bgtaskctl help app"),
        ])
    func refuses(_ arguments: [String], _ part: String) throws {
        let run = try CommandRun(
            [CommandRun.program, "app"] + arguments, ["BGTASK_SOCKET=/nowhere"])
        #expect(run.finish() == 64)
        #expect(run.errors.contains(part))
        #expect(run.errors.split(separator: "\n").count == 1)
    }
}
