import Settings
import Testing

@Suite("Refused settings")
struct BadFileTests {
    @Test(
        "each mistake is named with its place, its key and what was expected",
        arguments: [
            ("[limits\n", "F:1:8: expected ], found the end of the line"),
            ("a = \n", "F:1:5: expected a value, found the end of the line"),
            ("[limits]\nclientsMax 5\n", #"F:2:12: expected = after the key, found "5""#),
            ("[limits]\nclientsMax = 5 6\n", #"F:2:16: expected the end of the line, found "6""#),
            (
                "[store]\ndurability = commit\n",
                #"F:2:14: "commit" is not a value; a text needs quotes"#
            ),
            (
                "[store]\ndurability = \"commit\n",
                "F:2:14: a string without its closing quote on this line"
            ),
            ("[limits]\nclientsMax = 5\nclientsMax = 6\n", "F:3:1: clientsMax is defined twice"),
            ("[limits]\n[queue]\n[limits]\n", "F:3:2: limits is defined twice"),
            ("é = \u{7}1", "F:1:1: expected a key, found \"é\""),
            (
                "[limits]\nclientsMax = 99999999999999999999\n",
                "F:2:14: 99999999999999999999 does not fit in 64 bits"
            ),
            ("a = 1\u{0}garbage", #"F:1:6: expected the end of the line, found "\u{0}""#),
            ("# a\u{0}b", "F:1:4: the control character U+0000"),

            (
                "[limits]\nclientMax = 5\n",
                "F:2:1: limits.clientMax: unknown key; did you mean limits.clientsMax?"
            ),
            (
                "[limits]\nclientsmax = 5\n",
                "F:2:1: limits.clientsmax: unknown key; did you mean limits.clientsMax?"
            ),
            (
                "[limits]\nslots = 5\n",
                "F:2:1: limits.slots: unknown key; did you mean queue.slots?"
            ),
            ("[limits]\nfrobnicate = 5\n", "F:2:1: limits.frobnicate: unknown key"),
            ("slots = 5\n", "F:1:1: slots: unknown key; did you mean queue.slots?"),
            ("[limit]\nclientsMax = 5\n", "F:1:2: limit: unknown table; did you mean limits?"),
            ("[empty]\n", "F:1:2: empty: unknown table"),
            ("[limits.more.and.more]\n", "F:1:9: limits.more: unknown key"),
            (
                "[profiles.default]\ngrase = \"5s\"\n",
                "F:2:1: profiles.default.grase: unknown key; did you mean profiles.default.grace?"
            ),
            ("\"lim\\u0000its\" = 1\n", #"F:1:1: "lim\u{0}its": unknown key"#),
            (
                "\"limits.clientsMax\" = 1\n",
                #"F:1:1: "limits.clientsMax": unknown key; did you mean limits.clientsMax?"#
            ),

            ("limits = 5\n", "F:1:1: limits: expected a table, found the integer 5"),
            ("[[limits]]\nclientsMax = 5\n", "F:1:3: limits: expected a table, found an array"),
            (
                "[limits.clientsMax]\nx = 1\n",
                "F:1:9: limits.clientsMax: expected a whole number from 1 to 1000000, found a table"
            ),
            (
                "[limits]\nclientsMax = \"5\"\n",
                "F:2:1: limits.clientsMax: expected a whole number from 1 to 1000000, "
                    + "found the string \"5\"; leave out the quotes"
            ),
            (
                "[limits]\nclientsMax = 5.0\n",
                "F:2:1: limits.clientsMax: expected a whole number from 1 to 1000000, "
                    + "found the floating-point number 5.0"
            ),
            (
                "[limits]\nclientsMax = [[1], {a = 1}]\n",
                "F:2:1: limits.clientsMax: expected a whole number from 1 to 1000000, found an array"
            ),
            (
                "[budget]\nwarnAfter = 30\n",
                "F:2:1: budget.warnAfter: expected a time span from 10ms to 365d or infinity, "
                    + "found the integer 30; write it as \"180s\""
            ),
            (
                "[budget]\nwarnAfter = 1979-05-27T07:32:00Z\n",
                "F:2:1: budget.warnAfter: expected a time span from 10ms to 365d or infinity, "
                    + "found the date or time 1979-05-27T07:32:00Z; write it as \"180s\""
            ),
            (
                "[budget]\nwarnAfter = \"soon\"\n",
                "F:2:1: budget.warnAfter: \"soon\" is not a time span: expected a number at \"soon\"; "
                    + "expected a time span from 10ms to 365d or infinity"
            ),
            (
                "[applications]\nenforce = \"true\"\n",
                "F:2:1: applications.enforce: expected true or false, "
                    + "found the string \"true\"; leave out the quotes"
            ),
            (
                "[applications]\nforeground = \"singel\"\n",
                "F:2:1: applications.foreground: expected \"single\" or \"multiple\", "
                    + "found the string \"singel\"; did you mean single?"
            ),

            (
                "[limits]\ntasksPerOwnerMax = 0\n",
                "F:2:1: limits.tasksPerOwnerMax: 0 is out of range: "
                    + "expected a whole number from 1 to 10000000"
            ),
            (
                "[limits]\nframeBytesMax = 16777217\n",
                "F:2:1: limits.frameBytesMax: 16777217 is out of range: "
                    + "expected a whole number from 1024 to 16777216"
            ),
            (
                "[profiles.short]\nduration = \"infinity\"\n",
                "F:2:1: profiles.short.duration: infinity is out of range: "
                    + "expected a time span from 10ms to 365d"
            ),

            (
                "[profiles.default]\ngrace = \"180s\"\n",
                "F:2:1: profiles.default.grace: 3min is not shorter than the duration, 3min (default)"
            ),
            (
                "[profiles.default]\nduration = \"4s\"\n",
                "F:2:1: profiles.default.duration: "
                    + "the grace, 5s (default), is not shorter than 4s"
            ),
            (
                "[profiles.x]\nduration = \"4s\"\ngrace = \"9s\"\n",
                "F:3:1: profiles.x.grace: 9s is not shorter than the duration, 4s"
            ),
            (
                "[applications]\ngrace = \"3min\"\n",
                "F:2:1: applications.grace: "
                    + "3min is not shorter than the backgroundTime, 3min (default)"
            ),
            (
                "[profiles.default]\nlifetimeMax = \"179s\"\n",
                "F:2:1: profiles.default.lifetimeMax: "
                    + "2min 59s is shorter than the duration, 3min (default)"
            ),
            (
                "[profiles.unlimited]\ngrace = \"1s\"\n",
                "F:1:11: profiles.unlimited: this profile is built in and cannot be changed"
            ),
            (
                "[profiles.\"a b\"]\n",
                "F:1:11: profiles.\"a b\": a profile's name is 1 to 64 of A-Z a-z 0-9 . _ -"
            ),
            (
                "[queue.groups.\"a b\"]\n",
                "F:1:15: queue.groups.\"a b\": a group's name is 1 to 64 of A-Z a-z 0-9 . _ -"
            ),
            (
                "[queue.groups.x]\nslots = 0\n",
                "F:2:1: queue.groups.x.slots: 0 is out of range: "
                    + "expected a whole number from 1 to 10000"
            ),
            (
                "[queue.groups.x]\nslot = 1\n",
                "F:2:1: queue.groups.x.slot: unknown key; did you mean queue.groups.x.slots?"
            ),
            (
                "[queue.group.x]\nslots = 1\n",
                "F:1:8: queue.group: unknown key; did you mean queue.groups?"
            ),
            ("[groups.x]\n", "F:1:2: groups: unknown table; did you mean queue.groups?"),
            ("queue.groups = 5\n", "F:1:7: queue.groups: expected a table, found the integer 5"),
            (
                "[queue.groups]\nx = 5\n",
                "F:2:1: queue.groups.x: expected a table, found the integer 5"
            ),
            ("[queue.groups.x.y]\n", "F:1:17: queue.groups.x.y: unknown key"),
            ("profiles.x = 5\n", "F:1:10: profiles.x: expected a table, found the integer 5"),
        ]
    )
    func names(_ text: String, _ message: String) throws {
        #expect(try problems(text) == [message])
    }

    @Test("all that is wrong with a file is reported at once, in its order")
    func reportsAll() throws {
        let found = try problems(
            """
            [limits]
            clientsMax = "many"
            clientMax = 5
            [queue]
            slots = 0
            [profiles.default]
            grace = "1h"
            """
        )
        #expect(found.map { $0.prefix(5) } == ["F:2:1", "F:3:1", "F:5:1", "F:7:1"])
    }

    @Test("a profile with a refused key is not judged any further")
    func refusedKeysAreNotJudged() throws {
        let found = try problems("[profiles.x]\nduration = \"1 fortnight\"\ngrace = \"1h\"\n")
        #expect(found.count == 1)
        #expect(found.first?.contains("fortnight") == true)
    }

    @Test("an error list is cut off, and says so")
    func errorsAreBounded() throws {
        let found = try problems((0..<500).map { "unknown\($0) = 1\n" }.joined())
        #expect(found.count == 101)
        #expect(found.last == "F: and more, which is not listed")
    }

    @Test("there may be a thousand profiles and no more")
    func profilesAreBounded() throws {
        let most = (0..<995).map { "[profiles.p\($0)]\n" }.joined()
        #expect(try problems(most) == [])
        let found = try problems(most + "[profiles.more]\n")
        #expect(found == ["F:996:11: profiles.more: more than 1000 profiles"])
    }

    @Test("there may be 64 groups and no more")
    func groupsAreBounded() throws {
        let most = (0..<64).map { "[queue.groups.g\($0)]\n" }.joined()
        #expect(try problems(most) == [])
        let found = try problems(most + "[queue.groups.more]\n")
        #expect(found == ["F:65:15: queue.groups.more: more than 64 groups"])
    }

    @Test("a file that is not UTF-8 is refused at the byte")
    func encoding() throws {
        #expect(try problems(bytes: Array("[limits]\n# a".utf8) + [0xFF]) == ["F:2:4: not UTF-8"])
        #expect(try problems(bytes: [0xFF, 0xFE, 0x5B, 0]) == ["F:1:1: not UTF-8"])
    }

    @Test("a byte-order mark is passed over, and columns are counted after it")
    func byteOrderMark() throws {
        #expect(try problems("\u{FEFF}[limits]\n") == [])
        let plain = try problems("slots = 1")
        #expect(try problems("\u{FEFF}slots = 1") == plain)
    }

    @Test("a file of hostile size is refused before it is read")
    func size() throws {
        let fits = String(repeating: "#", count: TOMLDocument.sizeMax)
        #expect(try problems(fits) == [])
        #expect(try problems(fits + "#") == ["F:1:1: larger than 1048576 bytes"])
    }

    @Test(
        "a file of hostile depth is refused, in the time of any other",
        arguments: [
            String(repeating: "[", count: 500_000),
            "a = " + String(repeating: "[", count: 500_000),
            "a = " + String(repeating: "{a=", count: 300_000),
            Array(repeating: "a", count: 500_000).joined(separator: ".") + " = 1",
            "[" + Array(repeating: "a", count: 500_000).joined(separator: ".") + "]",
            "a = " + String(repeating: "[{a=", count: 200_000),
        ]
    )
    func depth(_ text: String) throws {
        let found = try problems(text)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("F:1:") == true)
    }

    @Test("a message stays on one line, whatever the file says")
    func oneLine() throws {
        for found in try problems(
            "\"a\\nb\\u001b[31m\\u2028\" = \"x\\r\\n\"\n[store]\ndurability = \"\\n\""
        ) {
            #expect(!found.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x2028 })
        }
    }
}
