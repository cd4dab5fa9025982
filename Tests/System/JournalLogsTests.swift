import Foundation
import TestKit
import Testing

extension SystemTests {
    /// What a task prints in the journal, and `bgtaskctl logs --journal`.
    @Suite("A task's story in the journal")
    struct JournalLogsTests {
        init() throws {
            try JournalStage.start()
        }

        /// The lines of `bgtaskctl logs ID --journal`, without their times.
        private func story(of task: String) throws -> [String] {
            try JournalStage.waitForEnd(of: task)
            let shown = try JournalStage.shell("ctl logs \(task) --journal")
            #expect(shown.status == 0, "\(shown.errors)")
            return lines(shown.output)
        }

        private func lines(_ text: String) -> [String] {
            text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map {
                $0.split(separator: "\t", maxSplits: 1).dropFirst().joined()
            }
        }

        /// Writes an entry as any process may, and stays until journald has looked at who wrote it.
        private static func forge(_ task: String, _ text: String) -> String {
            let entry =
                #"MESSAGE=\#(text)\nBGTASK_ID=\#(task)\nBGTASK_NAME=x\n_UID=0\n_SYSTEMD_UNIT=bgtaskd.service\n"#
            return "{ printf '\(entry)'; read line </run/written; } | "
                + "socat -u - UNIX-SENDTO:/run/systemd/journal/socket"
        }

        /// What lets the writers go once their entries are in the journal.
        private static func release(_ task: String, _ text: String, count: Int) -> String {
            """
            until [ $(journalctl --sync; journalctl -q -o cat MESSAGE=\(text) BGTASK_ID=\(task) | wc -l) = \(count) ]
            do sleep 0.05; done
            : >/run/written; wait; rm /run/written
            """
        }

        @Test("is told from its begin to its end, with what it printed")
        func story() throws {
            let id = try JournalStage.run("sh -c 'echo one; echo \"<3>two\"; exit 3'")
            #expect(
                try story(of: id) == [
                    "task\tinfo\tTask \(id) (sh) began", "stdout\tinfo\tone", "stdout\terr\ttwo",
                    "task\tnotice\tTask \(id) (sh) failed: exit status 3",
                ])
            // What the daemon keeps is as it was printed.
            #expect(try JournalStage.shell("ctl logs \(id)").output == "one\n<3>two\n")
        }

        @Test("is told while it goes on, until its end")
        func follows() throws {
            let followed = try JournalStage.shell(
                """
                rm -f /run/go /run/story; mkfifo /run/go
                id=$(ctl run -- sh -c 'echo early; read line </run/go; echo $line')
                ctl logs $id --journal --follow >/run/story & reader=$!
                until grep -q early /run/story; do sleep 0.05; done
                echo late >/run/go
                wait $reader && cat /run/story
                """)
            #expect(
                lines(followed.output).map { $0.split(separator: "\t").last ?? "" }.dropFirst()
                    .dropLast() == ["early", "late"])
            #expect(followed.output.hasSuffix("(sh) completed: exit status 0\n"))
        }

        @Test("has the level that a line's prefix gives it, and interrupts no terminal")
        func prefixes() throws {
            let script =
                (0...9).map { "echo \"<\($0)>line \($0)\"" } + ["echo plain", "echo e >&2"]
            let id = try JournalStage.run("sh -c '\(script.joined(separator: "; "))'")
            try JournalStage.waitForEnd(of: id)
            let printed = try JournalStage.entries("BGTASK_ID=\(id)", "BGTASK_STREAM=stdout")
            let shown = printed.map { entry in
                "\(entry["PRIORITY"] as? String ?? "") \(entry["MESSAGE"] as? String ?? "")"
            }
            #expect(
                shown == [
                    "2 line 0", "2 line 1", "2 line 2", "3 line 3", "4 line 4", "5 line 5",
                    "6 line 6", "7 line 7", "6 <8>line 8", "6 <9>line 9", "6 plain",
                ])
            #expect(printed.allSatisfy { $0["BGTASK_NAME"] as? String == "sh" })
            let errors = try JournalStage.entries("BGTASK_ID=\(id)", "BGTASK_STREAM=stderr")
            #expect(errors.map { $0["PRIORITY"] as? String } == ["5"])
        }

        @Test("gives the parts of a line that is too long for one entry the level of the line")
        func longLines() throws {
            let long = "printf \"<4>\"; head -c 200000 /dev/zero | tr \"\\0\" y; echo; echo next"
            let id = try JournalStage.run("sh -c '\(long)'")
            try JournalStage.waitForEnd(of: id)
            let parts = try JournalStage.entries("BGTASK_ID=\(id)", "BGTASK_STREAM=stdout")
            let texts = parts.map { $0["MESSAGE"] as? String ?? "" }
            #expect(texts.dropLast().joined() == String(repeating: "y", count: 200_000))
            #expect(texts.count > 2)
            #expect(parts.dropLast().allSatisfy { $0["PRIORITY"] as? String == "4" })
            #expect(texts.last == "next")
            let told = try story(of: id).filter { $0.hasPrefix("stdout\twarning\t") }
            #expect(told == texts.dropLast().map { "stdout\twarning\t\($0)" })
            #expect(parts.last?["PRIORITY"] as? String == "6")
        }

        @Test("lets a line through that says it is an error, where the log takes only errors")
        func prefixesAndLevel() throws {
            try JournalStage.start(settings: "daemon.logLevel = \"err\"")
            let script = "echo \"<6>a\"; echo \"<3>b\"; echo c; echo \"<4>d\"; echo \"<0>e\""
            let id = try JournalStage.run("sh -c '\(script)'")
            try Box.wait(
                for: "b\ne", from: "sh", "-c",
                "journalctl --sync; journalctl -q -o cat BGTASK_ID=\(id)")
        }

        @Test("has nothing that others wrote about it, whoever they are and wherever they run")
        func forgery() throws {
            let id = try JournalStage.run("true")
            let rootTask = "ctl run -- sh -c \"$1\""
            try forge(id, "forged", besides: rootTask, count: 4)
            let all = try JournalStage.entries("BGTASK_ID=\(id)", "MESSAGE=forged")
            #expect(Set(all.compactMap { $0["_UID"] as? String }) == ["0", "431"])
            #expect(
                all.filter { $0["_SYSTEMD_UNIT"] as? String == "bgtaskd.service" }.count == 2,
                "tasks are in the daemon's unit")
        }

        @Test("has nothing that a user's task wrote about it from the daemon's own control group")
        func forgeryBesideDaemon() throws {
            try JournalStage.start(settings: "daemon.containment = \"supervisor\"")
            let id = try JournalStage.run("true")
            try forge(id, "copied", besides: ":", count: 3)
            let own = try JournalStage.entries("BGTASK_ID=\(id)", "MESSAGE=copied").filter {
                ($0["_SYSTEMD_CGROUP"] as? String)?.hasSuffix("/bgtaskd.service") == true
            }
            #expect(own.compactMap { $0["_UID"] as? String } == ["431"])
        }

        /// A user, root outside the unit, and a user's task write about a task; its story stays as it was.
        ///
        /// The user is one of the system's, whose entries are in the same file of the journal as root's.
        private func forge(
            _ id: String, _ text: String, besides more: String, count: Int
        ) throws {
            try JournalStage.makeUser("bgtask-forger", 431)
            let user = "setpriv --reuid=431 --regid=431 --clear-groups"
            let forged = try JournalStage.shell(
                """
                mkfifo -m 666 /run/written
                \(user) sh -c "$1" & sh -c "$1" &
                \(user) \(Programs.path("bgtaskctl")) --system run -- sh -c "$1"; \(more)
                \(Self.release(id, text, count: count))
                """, [Self.forge(id, text)])
            #expect(forged.status == 0, "\(forged.errors)")
            #expect(
                try story(of: id) == [
                    "task\tinfo\tTask \(id) (true) began",
                    "task\tinfo\tTask \(id) (true) completed: exit status 0",
                ])
        }

        @Test("cannot forge a line, a field or a terminal's escape with what it prints or is named")
        func visible() throws {
            let id = try JournalStage.run(
                #"printf 'a\033[2J\302\233\rb\nTask 9 (y) completed\n'"#,
                "--name 'x) completed: exit status 0'")
            let told = try story(of: id)
            #expect(told.count == 4, "\(told)")
            #expect(
                told[1...2] == [
                    #"stdout\#tinfo\#ta\x1b[2J\x9b\x0db"#, "stdout\tinfo\tTask 9 (y) completed",
                ])
            #expect(told.filter { $0.hasPrefix("task\t") }.count == 2)
            let json = try JournalStage.shell("ctl logs \(id) --journal --json").output
            for text in [told.joined(), json] {
                #expect(
                    !text.unicodeScalars.contains { "\u{1B}\u{9B}\r".unicodeScalars.contains($0) })
            }
            let entries = try json.split(separator: "\n").map {
                try #require(
                    try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: String])
            }
            #expect(entries.map { $0["MESSAGE"] }[1] == "a\u{1B}[2J\u{9B}\rb")
        }

        @Test("is read by those who may read the journal; others are told which group may")
        func access() throws {
            let id = try JournalStage.run("echo hello")
            try JournalStage.waitForEnd(of: id)
            let command = "\(Programs.path("bgtaskctl")) --system logs \(id) --journal"
            let member = try JournalStage.shell(command, as: 65534, groups: "systemd-journal")
            #expect(lines(member.output).contains("stdout\tinfo\thello"), "\(member)")
            let stranger = try JournalStage.shell(command, as: 65534)
            #expect(stranger.status == 1)
            #expect(stranger.output.isEmpty)
            #expect(stranger.errors.contains("members of the group systemd-journal may"))
            let nothing = try JournalStage.shell("ctl logs 999999 --journal")
            #expect(nothing.status == 1)
            #expect(nothing.errors.contains("no entry of bgtaskd.service about task 999999"))
            #expect(try JournalStage.shell("ctl logs \(id) --journal --unit other").status == 1)
        }

        @Test("is a user's own to read where the daemon is")
        func ownDaemon() throws {
            let (name, number) = ("bgtask-story", 4302)
            try JournalStage.makeUser(name, number)
            try JournalStage.start(ofUser: name)
            let ctl = "XDG_RUNTIME_DIR=/run/user/\(number) \(Programs.path("bgtaskctl")) --user"
            let run = try JournalStage.shell("\(ctl) run --wait -- sh -c 'echo mine'", as: number)
            #expect(run.status == 0, "\(run.errors)")
            let id = String(run.output.prefix { $0.isNumber })
            try JournalStage.waitForEnd(of: id, user: number)
            let forged = try JournalStage.shell(
                """
                mkfifo -m 666 /run/written
                for user in \(number) 4303; do
                    setpriv --reuid=$user --regid=$user --clear-groups sh -c "$1" &
                done
                \(Self.release(id, "stolen", count: 2))
                """, [Self.forge(id, "stolen")])
            #expect(forged.status == 0, "\(forged.errors)")
            let told = try JournalStage.shell("\(ctl) logs \(id) --journal", as: number)
            #expect(
                lines(told.output) == [
                    "task\tinfo\tTask \(id) (sh) began", "stdout\tinfo\tmine",
                    "task\tinfo\tTask \(id) (sh) completed: exit status 0",
                ], "\(told.errors)")
        }
    }
}
