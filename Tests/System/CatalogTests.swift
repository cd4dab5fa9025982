import Foundation
import Testing

extension SystemTests {
    /// systemd/bgtaskd.catalog, as journalctl reads it.
    @Suite("The message catalog in journalctl")
    struct CatalogTests {
        private let catalog: String

        init() throws {
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../systemd/bgtaskd.catalog").standardized
            catalog = try String(contentsOf: file, encoding: .utf8)
            _ = try JournalStage.shell("mkdir -p /usr/lib/systemd/catalog")
            try JournalStage.write(catalog, to: "/usr/lib/systemd/catalog/bgtaskd.catalog")
            let updated = try JournalStage.shell("journalctl --update-catalog")
            #expect(updated.status == 0)
            #expect(updated.errors.isEmpty)
        }

        @Test("is taken up whole")
        func isComplete() throws {
            let ids = catalog.matches(of: /(?m)^-- ([0-9a-f]{32})$/).map { String($0.1) }
            try #require(ids.count > 40)
            let listed = try JournalStage.shell("journalctl --list-catalog | grep ' bgtaskd: '")
            #expect(
                Set(listed.output.split(separator: "\n").map { $0.prefix(32).lowercased() })
                    == Set(ids))
        }

        @Test("explains what happened to a task, with the fields of the entry")
        func explains() throws {
            try JournalStage.start()
            let id = try JournalStage.run("false", "--name '@_UID@ x'")
            try JournalStage.waitForEnd(of: id)
            let text = try JournalStage.journalctl("-x", "BGTASK_ID=\(id)")
            let explained = text.split(separator: "\n").filter { $0.hasPrefix("\u{2591}\u{2591}") }
            for line in [
                "Subject: Task \(id) has started", "Subject: Task \(id) has failed",
                "Defined-By: bgtaskd", "Documentation: man:bgtaskd(8) man:bgtaskctl(1)",
            ] {
                #expect(explained.contains { $0.hasSuffix(line) }, "\(line)")
            }
            #expect(explained.contains { $0.contains("bgtaskctl logs \(id) --journal") })
            #expect(explained.contains { $0.contains("Task \(id) (@_UID@ x) of user 0") })
            #expect(!explained.contains { $0.contains("@BGTASK") })
        }

        @Test("explains what the daemon says about itself, with the fields of the entry")
        func explainsDaemon() throws {
            try JournalStage.start(settings: "queue.slots = 3")
            try JournalStage.write("queue.slots = \"x\"", to: "/etc/bgtaskd-journal.toml")
            #expect(try JournalStage.shell("ctl reload").status != 0)
            let entries = try JournalStage.entries("-u", "bgtaskd", "SYSLOG_IDENTIFIER=bgtaskd")
            #expect(entries.allSatisfy { $0["MESSAGE_ID"] != nil })
            let serving = try #require(entries.last { $0["MESSAGE"] as? String == "serving" })
            #expect(serving["BGTASK_SOCKET"] as? String == "/run/bgtaskd/org.bgtaskd")
            let told = try JournalStage.shell("ctl logs --journal").output
            #expect(told.contains("\tbgtaskd\tnotice\tserving\n"))
            #expect(told.contains("\tbgtaskd\terr\tsettings refused: /etc/bgtaskd-journal.toml"))
            let text = try JournalStage.journalctl("-x", "-u", "bgtaskd", "-n", "20")
            #expect(text.contains("accepts calls at /run/bgtaskd/org.bgtaskd."))
            #expect(text.contains("Subject: bgtaskd refuses its new settings"))
            #expect(text.contains("they are wrong: /etc/bgtaskd-journal.toml"))
            // A field that an entry does not have would be shown by its name.
            #expect(!text.contains(": BGTASK_") && !text.contains("\"BGTASK_"))
        }

        @Test("finds the overruns, and nothing else, by their outcome")
        func overruns() throws {
            try JournalStage.start()
            let before = try JournalStage.entries("BGTASK_OUTCOME=overrun").count
            let stubborn = "sh -c 'trap \"\" TERM; while :; do sleep 5; done'"
            let ids = try (0..<2).map { _ in
                try JournalStage.run(stubborn, "--budget 300ms --grace 100ms")
            }
            let others = [try JournalStage.run("true"), try JournalStage.run("false")]
            for id in ids + others { try JournalStage.waitForEnd(of: id) }
            let found = try JournalStage.entries("BGTASK_OUTCOME=overrun").dropFirst(before)
            #expect(found.compactMap { $0["BGTASK_ID"] as? String } == ids)
            for entry in found {
                #expect(entry["PRIORITY"] as? String == "4")
                #expect(entry["BGTASK_SIGNAL"] as? String == "SIGKILL")
                #expect(entry["BGTASK_BUDGET_USEC"] as? String == "300000")
                #expect(Int(entry["BGTASK_USED_USEC"] as? String ?? "") ?? 0 >= 300_000)
            }
        }
    }
}
