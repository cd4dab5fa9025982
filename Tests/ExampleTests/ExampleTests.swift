import Foundation
import TestKit
import Testing

@Suite("The examples", .timeLimit(.minutes(15)))
struct ExampleTests {
    @Test("every task of the demo ends as it must", arguments: ["auto", "supervisor"])
    func demo(containment: String) throws {
        let demo = try Program(Place.examples + "/demo", ["--containment", containment])
        let (status, text) = demo.waitForEnd()
        #expect(status == 0, "\(text)")
        #expect(text.contains("Every task ended as it must."), "\(text)")
    }

    @Test("the demo fails where the daemon does not start")
    func demoWithoutDaemon() throws {
        let demo = try Program(
            Place.examples + "/demo", [], variables: ["BGTASKD_BIN_DIR": "/nonexistent"])
        let (status, text) = demo.waitForEnd()
        #expect(status == 1)
        #expect(text.contains("there is no /nonexistent/bgtaskd"), "\(text)")
    }

    @Test("hold.py is told, saves, and gives the time back")
    func python() throws {
        let daemon = try Daemon()
        let state = daemon.folder + "/saved"
        let example = try Program(
            Place.examples + "/hold.py", [state, "60.6", "60"],
            variables: ["BGTASK_SOCKET": daemon.socket])
        let (status, text) = example.waitForEnd()
        #expect(status == 0, "\(text)")
        #expect(text.contains("ended the task: expired"), "\(text)")
        #expect(FileManager.default.fileExists(atPath: state))
    }

    @Test("hold-example is told, and gives the time back")
    func swift() throws {
        let daemon = try Daemon()
        let example = try Program(
            Programs.path("hold-example"), [daemon.socket, "60600", "60000"])
        let (status, text) = example.waitForEnd()
        #expect(status == 0, "\(text)")
        #expect(text.contains("ended the task: expired"), "\(text)")
    }

    @Test("notify says how far it is, and has the time for all of its steps")
    func notify() throws {
        let daemon = try Daemon()
        let run = try bgtaskctl(
            daemon, "run", "--wait", "--name", "steps", "--budget", "3s", "--grace", "1s", "--",
            Place.examples + "/notify")
        #expect(run.status == 0, "\(run.text)")
        let task = try bgtaskctl(daemon, "show", "1").text
        #expect(task.contains("outcome\tcompleted\n"), "\(task)")
        #expect(task.contains("status\tall 5 steps done\n"), "\(task)")
    }

    private func bgtaskctl(
        _ daemon: Daemon, _ arguments: String...
    ) throws -> (status: Int32, text: String) {
        try Program(
            Programs.path("bgtaskctl"), arguments, variables: ["BGTASK_SOCKET": daemon.socket]
        ).waitForEnd()
    }

    @Test("an example without a daemon says so in one line")
    func withoutDaemon() throws {
        let nowhere = ["BGTASK_SOCKET": "/nonexistent/socket"]
        let examples = [
            try Program(Place.examples + "/hold.py", ["/dev/null"], variables: nowhere),
            try Program(Programs.path("hold-example"), ["/nonexistent/socket"]),
        ]
        for example in examples {
            let (status, text) = example.waitForEnd()
            #expect(status == 1)
            #expect(text.split(separator: "\n").count == 1, "\(text)")
            #expect(text.contains("No such file or directory"), "\(text)")
        }
    }

    @Test(
        "an example of an application says in one line how it is called",
        arguments: ["upload", "countdown", "poller", "badge"], Language.allCases)
    func usage(name: String, language: Language) throws {
        let usage = try Program(language.program(name), Array(repeating: "1", count: 9))
            .waitForEnd()
        #expect(usage.status == 1)
        #expect(usage.text.split(separator: "\n").count == 1, "\(usage.text)")
        #expect(usage.text.hasPrefix("usage: \(name)"), "\(usage.text)")
    }

    @Test(
        "an example in Python that nobody launched says so in one line",
        arguments: ["upload", "countdown", "poller", "badge"])
    func notLaunched(name: String) throws {
        let arguments = ["upload": ["a", "b"], "poller": ["a"], "badge": ["a"]][name] ?? []
        let (status, text) = try Program(Language.python.program(name), arguments).waitForEnd()
        #expect(status == 1)
        #expect(text.split(separator: "\n").count == 1, "\(text)")
        #expect(text.contains("there is no BGTASK_APPLICATION"), "\(text)")
    }
}
