import Testing

extension SystemTests {
    @Suite("systemctl reload")
    struct ReloadTests {
        /// Each test begins with a daemon that never ran, with its own settings.
        init() throws {
            try Service.set("queue.slots = 7\n")
            try InstalledUnits.start()
        }

        @Test("takes good settings, refuses bad ones whole and says so in the status; tasks go on")
        func reload() throws {
            defer { try? Service.set(nil) }
            let id = try Service.call("run --budget 600s -- sleep 7200").line
            let process = try Service.property("MainPID")
            try Service.set("queue.slots = 9\n")
            #expect(try Box.execRaw("systemctl", "reload", Service.name).status == 0)
            #expect(try slots() == "9")
            let journal =
                "journalctl --sync; journalctl --quiet --output=cat --unit=\(Service.name)"
            let told = "grep -c 'settings read again: queue.slots changed$'"
            try Box.wait(for: "1", from: "sh", "-c", "\(journal) | \(told)")

            try Service.set("queue.slots = 11\nqueue.slot = 1\n")
            #expect(try Box.execRaw("systemctl", "reload", Service.name).status != 0)
            #expect(try slots() == "9")
            let said = "the settings of \(Service.settingsFile) were refused: line 2"
            try Service.wait(for: said, of: "StatusText", through: "grep -o '\(said)'")
            #expect(try Service.property("ActiveState") == "active")
            #expect(try Service.property("SubState") == "running")

            try Service.set("queue.slots = 11\n")
            #expect(try Box.execRaw("systemctl", "reload", Service.name).status == 0)
            #expect(try slots() == "11")
            try Service.wait(for: "0", of: "StatusText", through: "grep -c refused")

            #expect(try Service.property("MainPID") == process)
            #expect(try Service.property("NRestarts") == "0")
            #expect(try Service.call("show \(id)").output.contains("running"))
            _ = try Service.call("cancel \(id)")
        }

        private func slots() throws -> String {
            let describe = "status --json | grep -o '\"key\":\"queue.slots\"[^}]*'"
            let text = try Service.call(describe).output
            return String(text.drop { !$0.isNumber }.prefix { $0.isNumber })
        }
    }
}
