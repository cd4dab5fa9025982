import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite("Tasks that are begun inside an application")
struct OwnApplicationTests {
    @Test(
        "begin, hold and run belong to $BGTASK_APPLICATION, unless --application says otherwise",
        arguments: [
            ([], #""player""#), (["--application", "clock"], #""clock""#),
            (["--application", ""], nil),
        ] as [([String], String?)])
    func application(options: [String], expected: String?) throws {
        let daemon = try FakeDaemon { peer in
            while let call = peer.nextCall() {
                if call.method == Tasks.Submit.name {
                    peer.send(Tasks.Submit.Output())
                } else {
                    peer.refuse(Tasks.NoSuchTask())
                }
            }
        }
        let words = [["run"], ["hold"], ["begin", "--name", "x"]]
        for verb in words {
            let command = verb[0] == "begin" ? [] : ["--", "true"]
            let run = try CommandRun(
                [CommandRun.program] + verb + options + command,
                ["BGTASK_SOCKET=\(daemon.path)", "BGTASK_APPLICATION=player"])
            _ = run.finish()
        }
        let asked =
            daemon.parameters(of: Tasks.Begin.self).map { $0["application"]?.text }
            + daemon.parameters(of: Tasks.Submit.self).map { $0["work"]?["application"]?.text }
        #expect(asked == [expected, expected, expected])
    }
}
