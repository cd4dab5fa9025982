import JSON
import Testing
import Varlink
import TaskControl

/// What the daemon says of its interfaces. The fake one has that of every service alone.
@Suite struct IntrospectTests {
    private func daemon() throws -> FakeDaemon { try FakeDaemon { $0.waitForClose() } }

    @Test("introspect names the interfaces, one a line")
    func names() throws {
        let daemon = try daemon()
        let run = try CommandRun(daemon, "introspect")
        #expect(run.finish() == 0)
        #expect(run.output == "org.varlink.service\n")
        #expect(run.errors == "")
    }

    @Test("introspect of an interface prints its description byte for byte")
    func description() throws {
        let daemon = try daemon()
        let run = try CommandRun(daemon, "introspect", "org.varlink.service")
        #expect(run.finish() == 0)
        #expect(run.output == ServiceInterface.text)
        #expect(
            daemon.parameters(of: ServiceInterface.GetInterfaceDescription.self).map(\.text)
                == [#"{"interface":"org.varlink.service"}"#])
    }

    @Test("introspect --json has what the daemon answers")
    func json() throws {
        let daemon = try daemon()
        let names = try CommandRun(daemon, "--json", "introspect")
        #expect(names.finish() == 0)
        #expect(
            names.output
                == #"{"vendor":"test","product":"fake","version":"1","url":"","#
                + #""interfaces":["org.varlink.service"]}"# + "\n")
        let description = try CommandRun(daemon, "introspect", "org.varlink.service", "--json")
        #expect(description.finish() == 0)
        #expect(description.output.hasPrefix(#"{"description":"# + "\""))
        #expect(description.output.split(separator: "\n").count == 1)
    }

    @Test(
        "an interface that there is not is one line, with the one that was meant",
        arguments: [
            ("org.varlink.servic", "; did you mean org.varlink.service?"),
            ("service", "; did you mean org.varlink.service?"),
            ("x\u{1B}", "; bgtaskctl introspect names them"),
        ])
    func unknown(_ name: String, _ hint: String) throws {
        let daemon = try daemon()
        let run = try CommandRun(daemon, "introspect", name)
        #expect(run.finish() == 1)
        #expect(run.output == "")
        let shown = VisibleText.oneLine(name)
        #expect(run.errors == "bgtaskctl: there is no interface \(shown)\(hint)\n")
    }

    @Test("introspect without a daemon says that nobody listens")
    func nobody() throws {
        let run = try CommandRun(
            [CommandRun.program, "introspect"], ["BGTASK_SOCKET=/nonexistent/socket"])
        #expect(run.finish() == 1)
        #expect(run.errors.hasPrefix("bgtaskctl: nobody listens at /nonexistent/socket;"))
    }
}
