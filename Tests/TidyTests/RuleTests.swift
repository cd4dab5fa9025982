import Testing

@Suite("The rules of the house style catch what they are for")
struct RuleTests {
    /// The lines that `rule` finds in a file of Sources/Systemd.
    private func lines(_ rule: Rule, _ text: String, path: String = "Sources/Systemd/A.swift")
        -> [Int]
    {
        rule.violations(in: SourceFile(path: path, text: text)).map(\.line)
    }

    @Test(
        "a wall-clock read",
        arguments: [
            "let a = Date()", "clock_gettime(CLOCK_REALTIME, &t)", "time(nil)", "x = Date.now",
        ]
    )
    func wallClock(line: String) {
        #expect(lines(Rules.wallClock, "\n\(line)\n") == [2])
        #expect(lines(Rules.wallClock, "// \(line)\nlet a = \"\(line)\"\nupDate()\n").isEmpty)
    }

    @Test(
        "a look that may be held up by whom it is of",
        arguments: ["clx_look(pid, &looked)", "let stat = try ProcessStat(of: 7)"])
    func processReads(line: String) throws {
        let listed = try #require(Rules.processReaders.keys.first)
        #expect(lines(Rules.processReads, line) == [1])
        #expect(lines(Rules.processReads, line, path: listed).isEmpty)
    }

    @Test("a sleep", arguments: ["usleep(1)", "try await Task.sleep(for: x)", "sleep(1)"])
    func sleeps(line: String) {
        #expect(lines(Rules.sleeps, line) == [1])
        #expect(lines(Rules.sleeps, line, path: "Tests/A/A.swift") == [1])
        #expect(lines(Rules.sleeps, "oversleep(1)").isEmpty)
    }

    @Test("a test that sees what the release build hides")
    func testable() {
        #expect(lines(Rules.testable, "@testable import Systemd", path: "Tests/A/A.swift") == [1])
        #expect(lines(Rules.testable, "import Systemd", path: "Tests/A/A.swift").isEmpty)
    }

    @Test(
        "a force unwrap, cast or try",
        arguments: ["a!.b", "try! a()", "b as! C", "a()!", "a[0]! + 1", "var a: B!", "\"\\(a!)\""]
    )
    func forcing(line: String) {
        #expect(lines(Rules.forcing, "\n\(line)") == [2])
    }

    @Test(
        "a negation or comparison is no force unwrap",
        arguments: ["if !a {}", "f(!a)", "a != b", "#if !DEBUG", "[!a]", "\"a!\"", "#\"\\(a!)\"#"]
    )
    func notForcing(line: String) {
        #expect(lines(Rules.forcing, "\n\(line)").isEmpty)
    }

    @Test("a trap", arguments: ["fatalError(\"x\")", "preconditionFailure(\"x\")"])
    func traps(line: String) {
        #expect(lines(Rules.traps, line) == [1])
        #expect(lines(Rules.traps, "// \(line)").isEmpty)
    }

    @Test("a precondition in a file that is not listed")
    func preconditions() throws {
        let listed = try #require(Rules.preconditionOwners.keys.first)
        #expect(lines(Rules.preconditions, "\nprecondition(a, \"b\")") == [2])
        #expect(lines(Rules.preconditions, "precondition(a, \"b\")", path: listed).isEmpty)
    }

    @Test(
        "a precondition without a message",
        arguments: ["precondition(a)", "precondition(a(b, c))", "precondition(\n[a, b].isEmpty)"]
    )
    func preconditionMessages(text: String) {
        #expect(lines(Rules.preconditionMessages, text) == [1])
    }

    @Test(
        "a precondition with its message",
        arguments: ["precondition(a, \"b\")", "precondition(a(b, c), d)", "isPrecondition(a)"]
    )
    func explainedPreconditions(text: String) {
        #expect(lines(Rules.preconditionMessages, text).isEmpty)
    }

    @Test(
        "an unsafety without its reason",
        arguments: ["final class A: @unchecked Sendable {}", "nonisolated(unsafe) var a = 1"]
    )
    func unexplainedUnsafety(line: String) {
        #expect(lines(Rules.unexplainedUnsafety, "\n\(line)") == [2])
        #expect(lines(Rules.unexplainedUnsafety, "// unsafe\n\(line)") == [2])
        #expect(lines(Rules.unexplainedUnsafety, "// The lock guards it.\n\(line)").isEmpty)
        #expect(lines(Rules.unexplainedUnsafety, "\(line)  // The lock guards it.").isEmpty)
    }

    @Test("a note for later", arguments: ["// TODO: x", "/// FIXME later", "a() /* XXX */"])
    func leftovers(line: String) {
        #expect(lines(Rules.leftovers, line) == [1])
        #expect(lines(Rules.leftovers, "let a = \"\(line)\"").isEmpty)
        #expect(lines(Rules.leftovers, "// mkdtemp(\"/tmp/XXXXXX\")").isEmpty)
    }

    @Test(
        "code in a comment",
        arguments: [
            "// let a = 1", "// }", "// if a {", "// call(b)", "// a = 2", "// func a() -> Int",
            "    // return x", "// import A", "// var a: Int = 2",
        ]
    )
    func commentedOutCode(line: String) {
        #expect(lines(Rules.commentedOutCode, line) == [1])
    }

    @Test(
        "a sentence is no code",
        arguments: [
            "// Let it be.", "// MARK: - Helpers", "/// let a = 1", "// Returns nothing.",
            "// The mask is inherited: block before the start (signal(7)).", "let a = \"// a = 2\"",
        ]
    )
    func sentences(line: String) {
        #expect(lines(Rules.commentedOutCode, line).isEmpty)
    }

    @Test("Foundation", arguments: ["import Foundation", "internal import Foundation.NSDate"])
    func foundation(line: String) {
        #expect(lines(Rules.foundation, line) == [1])
        #expect(lines(Rules.foundation, line, path: "Tests/A/A.swift").isEmpty)
        #expect(lines(Rules.foundation, "import FoundationEssentials").isEmpty)
    }

    @Test(
        "an import that crosses the arrows",
        arguments: [
            ("BudgetCore", "internal import Glibc"), ("Varlink", "import TaskAPI"),
            ("LinuxSystem", "package import BudgetCore"), ("Systemd", "import struct Settings.A"),
            ("TaskControl", "import BudgetCore"), ("Unknown", "let a = 1"),
        ]
    )
    func imports(module: String, line: String) {
        #expect(lines(Rules.imports, line, path: "Sources/\(module)/A.swift") == [1])
    }

    @Test(
        "an import along the arrows is allowed",
        arguments: [("TaskAPI", "package import Varlink"), ("Varlink", "import Glibc")]
    )
    func allowedImports(module: String, line: String) {
        #expect(lines(Rules.imports, line, path: "Sources/\(module)/A.swift").isEmpty)
    }

    @Test("an entry without a message id", arguments: ["log.notice(\"a\")", "log.error(\n\"a\")"])
    func namelessEntries(text: String) {
        #expect(lines(Rules.namelessEntries, text, path: "Sources/DaemonShell/A/A.swift") == [1])
        #expect(lines(Rules.namelessEntries, text).isEmpty)
        #expect(
            lines(Rules.namelessEntries, "log.say(.a)", path: "Sources/DaemonShell/A.swift").isEmpty
        )
    }

    @Test("comments, strings and interpolations are told apart")
    func takesApart() {
        let text =
            "a /* b /* c */ \"d\" */ e \"f // \\(g(\"h\") + i) j\" k // l\n\"\"\"\nm \"n\n\"\"\" o"
        let file = SourceFile(path: "A.swift", text: text)
        let code = file.codeLines.map { $0.split(separator: " ").joined(separator: " ") }
        #expect(code == ["a e g( ) + i) k", "", "", "o"])
        #expect(file.commentLines[0].hasSuffix("// l"))
    }
}
