import TaskAPI
import Testing
import TaskControl

@Suite struct TableTests {
    private let terminal = Style.terminal(width: 80, colour: false)

    private func lines(_ text: String) -> [String] {
        text.split(separator: "\n").map(String.init)
    }

    @Test("a list fits 80 columns, however long names and commands are")
    func fits() {
        let tasks = (1...3).map { number in
            Sample.task {
                $0.id = number * 123_456
                $0.name = String(repeating: "name", count: 20)
                $0.command = ["rsync", "-a", String(repeating: "/photos", count: 30)]
                $0.usedMs = 86_399_000
                $0.remaining = Sample.remaining(ms: 1, hardMs: 175_000, .ownBudget)
                guard number == 2 else { return }
                $0.state = .queued
                $0.waiting = "minimumInterval"
                $0.notBeforeMs = 581_000
            }
        }
        for line in lines(TaskTable.listing(tasks) { _ in "somebody" }.text(terminal)) {
            #expect(TextWidth.of(line) <= 80)
        }
    }

    @Test("columns are aligned under their titles, numbers to the right")
    func aligns() {
        let tasks = [
            Sample.task { $0.id = 7 },
            Sample.task {
                $0.id = 12
                $0.name = "up"
            },
        ]
        #expect(
            lines(TaskTable.listing(tasks).text(terminal)) == [
                "ID  NAME   STATE    LEFT  USED  COMMAND",
                " 7  flush  running  3min    5s  sleep 60",
                "12  up     running  3min    5s  sleep 60",
            ])
    }

    @Test("of those that have ended a list says when and how, and whose they are by name")
    func ended() throws {
        let task = Sample.task {
            $0.owner = 7
            $0.state = .ended
            $0.outcome = .failed
            $0.endedMs = 86_400_000 * 400
            $0.exit = Tasks.Exit()
            $0.exit?.status = 3
        }
        let table = lines(TaskTable.listing([task]) { "user\($0)" }.text(terminal))
        #expect(table[0] == "ID  USER   NAME   STATE   USED  ENDED             EXIT  COMMAND")
        let words = table[1].split(separator: " ").map(String.init)
        #expect(words[1...4] == ["user7", "flush", "failed", "5s"])
        #expect(words[5].count == 10 && words[6].count == 5)
        #expect(words[7...] == ["3", "sleep", "60"])
    }

    @Test("what was today has its time of day alone")
    func brief() {
        #expect(WallClock.brief(millisecondsAgo: 0).count == 8)
        #expect(WallClock.brief(millisecondsAgo: 86_400_000 * 2).count == 16)
    }

    @Test("a user has a name where the user database knows one")
    func users() {
        let names = UserNames()
        #expect(names.name(of: 0) == "root")
        #expect(names.name(of: 4_123_456_789) == "4123456789")
        #expect(names.name(of: -1) == "-1")
    }

    @Test("what tasks say of themselves is in a column where one says something")
    func status() {
        let tasks = [
            Sample.task { $0.id = 7 },
            Sample.task {
                $0.id = 12
                $0.status = "step 3\u{1B}[2J of 5"
            },
        ]
        #expect(
            lines(TaskTable.listing(tasks).text(terminal)) == [
                "ID  NAME   STATE    LEFT  USED  COMMAND   STATUS",
                " 7  flush  running  3min    5s  sleep 60  -",
                "12  flush  running  3min    5s  sleep 60  step 3\\x1b[2J of 5",
            ])
        let plain = TaskTable.fields(tasks, owners: false).text(.plain)
        #expect(lines(plain).map { $0.split(separator: "\t").count } == [8, 8])
    }

    @Test("a script gets tabs, no header and nothing cut")
    func plain() {
        let name = String(repeating: "x", count: 200)
        let text = TaskTable.fields([Sample.task { $0.name = name }], owners: false).text(.plain)
        #expect(text == "7\t\(name)\trunning\t3min\t5s\t-\tsleep 60\t-\n")
    }

    @Test("wide and combining characters are counted as a terminal shows them")
    func widths() {
        #expect(TextWidth.of("abc") == 3)
        #expect(TextWidth.of("写真") == 4)
        #expect(TextWidth.of("e\u{301}") == 1)
        #expect(TextWidth.cut("写真の転送", to: 5) == "写真…")
        #expect(TextWidth.of(TextWidth.cut("写真の転送", to: 6)) <= 6)
    }

    @Test("colour is for terminals that show it")
    func colours() {
        let table = TaskTable.fields(
            [
                Sample.task {
                    $0.state = .ended
                    $0.outcome = .overrun
                }
            ], owners: false)
        #expect(!table.text(terminal).contains("\u{1B}"))
        #expect(
            table.text(.terminal(width: 80, colour: true)).contains("\u{1B}[31moverrun\u{1B}[0m"))
    }

    @Test("show has every field of the interface, one a line")
    func fields() {
        let text = TaskText.fields(Sample.task { _ in }).text(.plain)
        let names = lines(text).map { String($0.prefix { $0 != "\t" }) }
        #expect(names.count == 26)
        #expect(text.contains("budget\t3min (warning at 2min 55s, grace 5s)\n"))
        #expect(text.contains("outcome\t-\n"))
    }

    @Test("on a terminal show leaves out what is not there")
    func absentFields() {
        let names = lines(TaskText.fields(Sample.task()).text(terminal)).map {
            String($0.drop { $0 == " " }.prefix { $0 != " " })
        }
        #expect(
            names == [
                "id", "name", "kind", "owner", "priority", "state", "profile", "budget",
                "remaining", "used", "age", "attempt", "command",
            ])
    }

    @Test("show tells what a command used in a person's words, and a dash where that is not known")
    func use() {
        let used = Sample.task {
            $0.cpuMs = 1234
            $0.memoryPeakBytes = 3 << 20
        }
        let text = TaskText.fields(used).text(.plain)
        #expect(text.contains("cpu\t1.2s\n"))
        #expect(text.contains("memory peak\t3 MiB\n"))
        let unknown = TaskText.fields(Sample.task { _ in }).text(.plain)
        #expect(unknown.contains("cpu\t-\n"))
        #expect(unknown.contains("memory peak\t-\n"))
    }

    @Test("a command is shown as a shell would read it back")
    func commands() {
        #expect(CommandText.line(["echo", "a b", "it's", ""]) == "echo 'a b' 'it'\\''s' ''")
        let line = CommandText.line(["'\u{301};x", "=ls", "--x=5%"])
        #expect(line == "''\\''\u{301};x' '=ls' --x=5%")
    }

    @Test(
        "sizes are in a person's words",
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1536, "1.5 KiB"),
            (1_048_576, "1 MiB"), (5_368_709_120, "5 GiB"), (.max, "8388607 TiB"),
        ])
    func sizes(bytes: Int, text: String) {
        #expect(SizeText.bytes(bytes) == text)
    }
}
