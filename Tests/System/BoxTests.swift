import Testing

extension SystemTests {
    @Suite("The box")
    struct BoxTests {
        @Test("hands a command's status, output and errors back")
        func runsCommands() throws {
            let result = try Box.exec("sh", "-c", "id -un; echo $$ >/tmp/a; echo no >&2; exit 7")
            #expect(result.status == 7)
            #expect(result.line == "root")
            #expect(result.errors.contains("no"))
        }

        @Test("runs a command as another user, and ends one that takes too long")
        func runsAsUser() throws {
            #expect(try Box.exec("id", "-un", options: ["-u", "nobody"]).line == "nobody")
            #expect(try Box.exec("tail", "-f", "/dev/null", seconds: 1).status == 124)
        }
    }
}
