import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// Texts of the kernel's with names of users' choice in them.
    @Suite struct NamedTextTests {
        /// Makes one `Character` with what stands before it.
        private static let mark = "\u{301}"
        /// Makes one with what stands behind it.
        private static let prepended = "\u{600}"

        @Test(
            "the fields of a process stand behind the last parenthesis, whatever its name is",
            arguments: [
                "sh", "a) S 1\u{600}", "a) S 1 (", ")", "", "\r", "a\u{301})\u{600}", "\u{600}",
            ])
        func stat(name: String) throws {
            let fields = "D 7 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 4711 21\n"
            let stat = try #require(ProcessStat("42 (\(name)) \(fields)"))
            #expect(stat.state == "D")
            #expect(stat.parent == 7)
            #expect(stat.startTime == 4711)
        }

        @Test(
            "a text that is cut short names nothing",
            arguments: ["", "1 (a", "1 (a)", "1 (a) S 1 2"])
        func cutShort(text: String) {
            #expect(ProcessStat(text) == nil)
        }

        @Test("a process that gives itself such a name is found with its parent")
        func ownName() throws {
            let path = "/proc/\(getpid())/comm"
            let name = try readText(path)
            try writeText("a) S 1" + Self.prepended, to: path)
            defer { try? writeText(String(name.dropLast()), to: path) }
            #expect(try ProcessStat(of: getpid()).parent == getppid())
        }

        @Test("a name that begins with a mark is a name of its own")
        func marked() {
            let group = "/t/task-1/\(Self.mark)x"
            #expect(ProcessOrigin.nested(group) == [group, "/t/task-1", "/t"])
            #expect(UnitPath(group: "/x.service/\(Self.mark)x")?.name == "x.service")
            #expect(unifiedGroup(in: "0::/\(Self.mark)x\n").map(String.init) == "/\(Self.mark)x")
        }

        @Test(
            "a name may end with whatever it likes", arguments: ["\r", "\u{600}", "\u{301}", "\n"])
        func ends(last: String) throws {
            #expect("a\(last)\nb".lines.last == "b")
            #expect("a\(last) b".parts(between: " ").last == "b")
            #expect("a\(last)/b".rest(behind: "a\(last)/") == "b")
            #expect("a\(last) (deleted)".rest(before: " (deleted)").map(String.init) == "a\(last)")
        }
    }
}
