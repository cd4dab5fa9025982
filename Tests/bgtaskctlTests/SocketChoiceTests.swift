import Testing
import TaskControl

@Suite struct SocketChoiceTests {
    private func path(_ wish: SocketChoice.Wish) throws -> String {
        try SocketChoice(wish).path
    }

    @Test("the system's daemon where it has a socket, else for all but root their own")
    func defaults() throws {
        #expect(
            try path(.init(runtimeDirectory: "/run/user/1000", hasSystemSocket: true))
                == SocketChoice.systemPath)
        #expect(
            try path(.init(user: true, runtimeDirectory: "/r", hasSystemSocket: true))
                == "/r/bgtaskd/org.bgtaskd")
        #expect(
            try path(.init(isRoot: true, runtimeDirectory: "/run/user/0"))
                == "/run/bgtaskd/org.bgtaskd")
        #expect(
            try path(.init(runtimeDirectory: "/run/user/1000"))
                == "/run/user/1000/bgtaskd/org.bgtaskd")
    }

    @Test("--user and --system choose, also against the environment")
    func options() throws {
        #expect(
            try path(
                .init(user: true, isRoot: true, environmentSocket: "/e", runtimeDirectory: "/r"))
                == "/r/bgtaskd/org.bgtaskd")
        #expect(
            try path(.init(system: true, environmentSocket: "/e", runtimeDirectory: "/r"))
                == SocketChoice.systemPath)
    }

    @Test("$BGTASK_SOCKET is used where no option says otherwise")
    func environment() throws {
        #expect(try path(.init(isRoot: true, environmentSocket: "/e")) == "/e")
        #expect(try path(.init(socket: "/s", environmentSocket: "/e")) == "/s")
        #expect(try path(.init(isRoot: true, environmentSocket: "")) == SocketChoice.systemPath)
    }

    @Test("without XDG_RUNTIME_DIR a user is told what to give")
    func noRuntimeDirectory() throws {
        #expect(throws: Failure.self) { try path(.init()) }
        #expect(throws: Failure.self) { try path(.init(user: true, runtimeDirectory: "")) }
    }
}
