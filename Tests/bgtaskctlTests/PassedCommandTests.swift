import ArgumentParser
import TaskAPI
import TestKit
import Testing
import TaskControl

@Suite("The command of run and hold, behind -- or without it")
struct PassedCommandTests {
    private func command(_ arguments: String...) throws -> [String] {
        let run = try #require(try Run.parseAsRoot(arguments) as? Run)
        return try PassedCommand.words(run.words, of: Run.self)
    }

    @Test("it begins at the first word that is no option, and has all words behind that")
    func begin() throws {
        #expect(try command("echo", "hi") == ["echo", "hi"])
        #expect(try command("--wait", "make", "-j4", "all") == ["make", "-j4", "all"])
        #expect(try command("--name", "x", "sh", "-c", "a -- b") == ["sh", "-c", "a -- b"])
        #expect(try command("env", "A=--wait", "true", "--", "--wait").last == "--wait")
    }

    @Test("behind -- everything is the command's")
    func terminator() throws {
        #expect(try command("--wait", "--", "make", "--wait") == ["make", "--wait"])
        #expect(try command("--", "--odd-name") == ["--odd-name"])
        #expect(try command("--", "a", "--", "b") == ["a", "--", "b"])
    }

    private func refusal(_ arguments: String...) -> String {
        do {
            _ = try Run.parseAsRoot(arguments)
            return ""
        } catch {
            return Run.message(for: error)
        }
    }

    @Test(
        "where an option may be either's, a word is no option, or there is no command, it is refused"
    )
    func refusals() {
        #expect(
            refusal("sleep", "5", "--wait")
                == "--wait may be meant for bgtaskctl or for sleep; put it before the command, "
                + "or -- before the command")
        #expect(refusal("make", "--budget=5s").contains("--budget may be meant for bgtaskctl"))
        #expect(refusal("--wiat", "make").contains("there is no option --wiat"))
        #expect(refusal("--wiat", "make").contains("--wait"))
        #expect(refusal().contains("a <command> is missing"))
        #expect(refusal("--").contains("a <command> is missing"))
    }
}
