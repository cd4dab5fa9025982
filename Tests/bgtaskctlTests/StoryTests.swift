import Glibc
import Systemd
import Testing
import TaskControl

@Suite("A task's story as bgtaskctl shows it")
struct StoryTests {
    private func record(_ fields: KeyValuePairs<String, String>) -> JournalRecord {
        JournalRecord(
            microseconds: 1_700_000_000_000_000,
            fields: fields.map { (name: $0.key, value: Array($0.value.utf8)) })
    }

    @Test("says how a command ended, and why, behind what the daemon says of it")
    func details() {
        let ended = record([
            "MESSAGE": "Task 4 (a) failed", "PRIORITY": "5", "BGTASK_ID": "4",
            "BGTASK_EXIT_STATUS": "3",
            "BGTASK_REASON": "its budget is spent",
        ])
        let text = "\ttask\tnotice\tTask 4 (a) failed: exit status 3, its budget is spent\n"
        #expect(StoryText.line(ended, .plain).hasSuffix(text))
    }

    @Test("says what the daemon says about itself in its name")
    func daemon() {
        let entry = record(["MESSAGE": "stopping", "PRIORITY": "5", "BGTASK_REASON": "SIGTERM"])
        #expect(StoryText.line(entry, .plain).hasSuffix("\tbgtaskd\tnotice\tstopping: SIGTERM\n"))
    }

    @Test("gives a line of output to its stream, whatever it says")
    func output() {
        let line = record([
            "MESSAGE": "Task 4 (a) failed\nx\u{1B}[1m", "PRIORITY": "3", "BGTASK_STREAM": "stderr",
            "BGTASK_REASON": "none",
        ])
        let text = "\tstderr\terr\tTask 4 (a) failed\\x0ax\\x1b[1m\n"
        #expect(StoryText.line(line, .plain).hasSuffix(text))
        let terminal = StoryText.line(line, .terminal(width: 80, colour: false))
        #expect(terminal.hasSuffix("  stderr   Task 4 (a) failed\\x0ax\\x1b[1m\n"))
    }

    @Test("has the journal's own fields as JSON, without journald's")
    func json() {
        let text = StoryText.json(record(["MESSAGE": "a\u{9B}", "_UID": "0", "BGTASK_ID": "4"]))
        #expect(
            text
                == #"{"__REALTIME_TIMESTAMP":"1700000000000000","BGTASK_ID":"4","MESSAGE":"a\u009b"}"#
                + "\n")
    }

    @Test("is believed of the daemon's uid and unit alone")
    func source() throws {
        let system = try JournalSource(
            SocketChoice(SocketChoice.Wish(system: true)), unit: "bgtaskd")
        #expect(system.user == 0)
        #expect(system.unitFields == ["_SYSTEMD_UNIT"])
        #expect(system.unit == "bgtaskd.service")
        let user = try JournalSource(
            SocketChoice(SocketChoice.Wish(user: true, runtimeDirectory: "/run/user/7")),
            unit: "other.service")
        #expect(user.user == geteuid())
        #expect(user.unitFields == ["_SYSTEMD_USER_UNIT"])
        #expect(user.unit == "other.service")
        #expect(throws: Failure.self) {
            try JournalSource(
                SocketChoice(SocketChoice.Wish(socket: "/nonexistent/socket")), unit: "bgtaskd")
        }
    }

    @Test(
        "is not believed of who is in the group of a task",
        arguments: [
            ("/system.slice/bgtaskd.service", true), ("/system.slice/bgtaskd.service/daemon", true),
            ("/system.slice/bgtaskd.service/bgtaskd-0f3c/12", false),
            ("/user.slice/bgtaskd-x/a/bgtaskd.service", true),
            ("/a/bgtaskd.service/bgtaskd-0f3c", false),
        ])
    func groups(group: String, isBelieved: Bool) throws {
        let source = try JournalSource(
            SocketChoice(SocketChoice.Wish(system: true)), unit: JournalSource.defaultUnit)
        #expect(source.believes(record(["_SYSTEMD_CGROUP": group])) == isBelieved)
    }
}
