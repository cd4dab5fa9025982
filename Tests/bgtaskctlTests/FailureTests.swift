import Glibc
import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite struct FailureTests {
    private func socket() throws -> SocketChoice {
        try SocketChoice(SocketChoice.Wish(socket: "/s"))
    }

    private func line(_ name: String, _ parameters: [(key: String, value: JSONValue)] = []) throws
        -> String
    {
        let error = RemoteError(name: name, parameters: .object(parameters))
        return Failure(.remote(error), socket: try socket()).line
    }

    @Test("each error of the interface is a line of its own, with its values")
    func tasks() throws {
        let hint = geteuid() == 0 ? " (--all reaches those of all users)" : ""
        #expect(
            try line(Tasks.NoSuchTask.name, [("id", .integer(9))])
                == "there is no task 9, or it is not yours\(hint); see: bgtaskctl list --ended")
        #expect(
            try line(
                Tasks.LimitReached.name,
                [("limit", .string("tasksPerOwnerMax")), ("value", .integer(1000))])
                == "the limit tasksPerOwnerMax (1000) is reached; end or cancel some first")
        #expect(
            try line(
                Tasks.LimitReached.name,
                [("limit", .string("lifetimeMax")), ("value", .integer(600_000))]
            ).hasPrefix("the limit lifetimeMax (10min) is exceeded; "))
        for (isLost, words) in [
            (true, "was lost with the daemon"), (false, "is not kept any more"),
        ] {
            #expect(
                try line(
                    Tasks.OutputGone.name,
                    [("id", .integer(9)), ("lostWithDaemon", .bool(isLost))])
                    == "the output of task 9 \(words); bgtaskctl logs 9 --journal may have it")
        }
        #expect(
            try line(Tasks.NoSuchProfile.name, [("profile", .string("p"))])
                == "there is no profile p; bgtaskctl status names them")
        #expect(
            try line(Tasks.NoSuchGroup.name, [("group", .string("g"))])
                == "there is no group g; bgtaskctl group list names them")
        #expect(
            try line(
                Tasks.TooLittleTime.name,
                [("remainingMs", .integer(2000)), ("neededMs", .integer(5000))])
                == "the application has 2s of background time left, and 5s are needed; "
                + "bring it to the front first")
        #expect(
            try line(
                Tasks.AlreadyEnded.name, [("id", .integer(9)), ("outcome", .string("overrun"))])
                == "task 9 has ended already: overrun; see: bgtaskctl show 9")
        #expect(
            try line(Tasks.NotAccepting.name, [("reason", .string("stopping"))])
                == "bgtaskd refuses this: stopping")
    }

    @Test("each error of applications is a line of its own, with its values")
    func applications() throws {
        let id = (key: "id", value: JSONValue.string("player"))
        #expect(
            try line(Applications.NoSuchApplication.name, [id])
                == "there is no application player, or it is not yours; see: bgtaskctl app list")
        let process = [
            ("pid", JSONValue.integer(42)), ("reason", .string("it is in a login session")),
        ]
        #expect(
            try line(Applications.CannotContain.name, process)
                == "process 42 cannot be adopted: it is in a login session")
        #expect(
            try line(Applications.WrongState.name, [id, ("state", .string("background"))])
                == "player is in the background, and this cannot be done then; "
                + "see: bgtaskctl app explain player")
        #expect(
            try line(Applications.NotRegistered.name, [id])
                == "player has no command that could be started; "
                + "give it one: bgtaskctl app register player -- COMMAND")
        let hostile = (key: "id", value: JSONValue.string("co`evil`"))
        #expect(
            try line(Applications.WrongState.name, [hostile, ("state", .string("notRunning"))])
                .hasSuffix("start it: bgtaskctl app launch ID"))
        #expect(
            try line(Applications.CannotStart.name, [id, ("reason", .string("not found"))])
                == "player could not be started: not found")
        #expect(
            try line(
                Tasks.LimitReached.name,
                [("limit", .string("applicationsPerOwnerMax")), ("value", .integer(4096))])
                == "the limit applicationsPerOwnerMax (4096) is reached; unregister some first")
    }

    @Test("refused settings are named by file, line and column")
    func settings() throws {
        #expect(
            try line(
                Manager.BadSettings.name,
                [
                    ("file", .string("/etc/x.toml")), ("line", .integer(3)),
                    ("column", .integer(7)), ("text", .string("unknown key")),
                ])
                == "the settings are refused and stay as they were: /etc/x.toml:3:7: unknown key")
    }

    @Test(
        "a refused parameter is named by its option, with what it may be",
        arguments: [
            ("work.budget.graceMs", "--grace must be shorter than the budget"),
            (
                "work.name",
                "--name must be 1 to 255 bytes without control characters, "
                    + "or characters that turn the direction of writing"
            ),
            ("pid", "--pid must be a running process of yours"),
            (
                "work.environment.A=B",
                "--env must be NAME=VALUE with a name, and without zero bytes"
            ),
            (
                "work.environment.name",
                "--env must be NAME=VALUE with a name, and without zero bytes"
            ),
            (
                "work.command[0]",
                "the command must be a program and its arguments, without zero bytes"
            ),
            (
                "registration.id",
                "an application's id must be 1 to 255 bytes without control characters, "
                    + "or characters that turn the direction of writing"
            ),
            (
                "states",
                "bgtaskd does not accept states; is it older than bgtaskctl, which is \(Version.current)?"
            ),
        ])
    func parameters(path: String, text: String) throws {
        #expect(
            try line("org.varlink.service.InvalidParameter", [("parameter", .string(path))])
                == text)
    }

    @Test("a held task is refused its output with the reason")
    func output() throws {
        let id: [(key: String, value: JSONValue)] = [("parameter", .string("id"))]
        let error = RemoteError(
            name: "org.varlink.service.InvalidParameter", parameters: .object(id))
        let failure = Failure(
            .remote(error), socket: try socket(), method: Tasks.Output.name)
        #expect(
            failure.line == "a held task has no output: its program does not print through bgtaskd")
    }

    @Test("the option of a parameter is known by the last part of its path")
    func options() {
        #expect(LimitText.option(for: "work.environment.PATH") == " (--env)")
        #expect(LimitText.option(for: "work.earliestBeginMs") == " (--in)")
        #expect(LimitText.option(for: "work.retry.delayMs") == " (--retry-delay)")
        #expect(LimitText.option(for: "work.command[0]") == "")
    }

    @Test("the errors of every service are lines too")
    func service() throws {
        #expect(try line("org.varlink.service.PermissionDenied").hasPrefix("permission denied"))
        #expect(try line("org.varlink.service.ExpectedMore").contains("stream"))
        #expect(
            try line(
                "org.varlink.service.InterfaceNotFound",
                [("interface", .string("org.bgtaskd.Tasks"))])
                == "what answers at /s has no org.bgtaskd.Tasks; is it the socket of bgtaskd?")
        #expect(
            try line("org.varlink.service.MethodNotFound", [("method", .string("a.b.C"))])
                .contains("has no a.b.C"))
    }

    @Test("an unknown error, or one without its values, is shown as it came")
    func unknown() throws {
        #expect(try line("a.b.C", [("x", .integer(1))]) == #"bgtaskd refuses: a.b.C {"x":1}"#)
        #expect(
            try line(Tasks.NoSuchTask.name) == "bgtaskd refuses: org.bgtaskd.Tasks.NoSuchTask {}")
    }

    @Test("a daemon that is not there is said together with how to start it")
    func unreachable() throws {
        for code in [ENOENT, ECONNREFUSED] {
            let error = ClientError.cannotConnect(path: "/s", errno: code)
            #expect(
                Failure(error, socket: try socket()).line
                    == "nobody listens at /s; is bgtaskd running? start it with: bgtaskd --socket /s"
            )
        }
        for (wish, command) in [
            (SocketChoice.Wish(system: true), "bgtaskd --system"),
            (SocketChoice.Wish(system: true, isService: true), "systemctl start bgtaskd.socket"),
            (
                SocketChoice.Wish(user: true, runtimeDirectory: "/r", isService: true),
                "systemctl --user start bgtaskd.socket"
            ),
        ] {
            let socket = try SocketChoice(wish)
            #expect(
                Failure(.cannotConnect(path: socket.path, errno: ENOENT), socket: socket).line
                    .hasSuffix("start it with: \(command)"))
        }
    }

    @Test("every failure of a connection is one line that names the socket or the daemon")
    func connection() throws {
        let errors: [ClientError] = [
            .badAddress("x"), .disconnected, .timedOut, .violation(.notAnObject),
            .badReply(MessageError("id", .missing)), .noCallWaiting,
            .failed(operation: "read", errno: EIO), .cannotConnect(path: "/s", errno: EACCES),
            .cannotConnect(path: "/s", errno: EPROTOTYPE),
            .cannotConnect(path: "/s", errno: EMFILE),
        ]
        for error in errors {
            let line = Failure(error, socket: try socket()).line
            #expect(line.contains("/s") || line.contains("bgtaskd"))
            #expect(!line.contains("\n"))
        }
    }
}
