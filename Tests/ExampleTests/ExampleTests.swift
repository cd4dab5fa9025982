import Foundation
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
            Place.examples + "/hold.py", [state, "0.6", "0.4"],
            variables: ["BGTASK_SOCKET": daemon.socket])
        let (status, text) = example.waitForEnd()
        #expect(status == 0, "\(text)")
        #expect(text.contains("gave the time back: expired"), "\(text)")
        #expect(FileManager.default.fileExists(atPath: state))
    }

    @Test("hold-example is told, and gives the time back")
    func swift() throws {
        let daemon = try Daemon()
        let example = try Program(
            Place.programs + "/hold-example", [daemon.socket, "600", "400"])
        let (status, text) = example.waitForEnd()
        #expect(status == 0, "\(text)")
        #expect(text.contains("gave the time back: expired"), "\(text)")
    }

    @Test("an example without a daemon says so in one line")
    func withoutDaemon() throws {
        let nowhere = ["BGTASK_SOCKET": "/nonexistent/socket"]
        let examples = [
            try Program(Place.examples + "/hold.py", ["/dev/null"], variables: nowhere),
            try Program(Place.programs + "/hold-example", ["/nonexistent/socket"]),
        ]
        for example in examples {
            let (status, text) = example.waitForEnd()
            #expect(status == 1)
            #expect(text.split(separator: "\n").count == 1, "\(text)")
            #expect(text.contains("No such file or directory"), "\(text)")
        }
    }
}
