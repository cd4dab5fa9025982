import Testing

extension SystemTests {
    @Suite("A daemon that hangs")
    struct WatchdogTests {
        /// Each test begins with a daemon that never ran.
        init() throws {
            // A slow machine must not wake the watchdog by chance.
            try InstalledUnits.start(dropIn: "[Service]\nWatchdogSec=10s\n")
        }

        @Test("is ended by the watchdog and started again, and its commands go on")
        func restarts() throws {
            let stubborn = "sh -c 'trap \"\" TERM; setsid sleep 7100 & exec sleep 7100'"
            let id = try Service.call("run --budget 600s --grace 1s -- \(stubborn)").line
            try Box.wait(for: "2", from: "sh", "-c", "pgrep -fc '^sleep 7100'")
            let processes = try Box.execRaw("pgrep", "-f", "^sleep 7100").output
            let first = try Service.property("MainPID")
            _ = try Box.execRaw("kill", "-STOP", first)
            try Service.wait(for: "1", of: "NRestarts")

            #expect(try Service.call("run --wait -- sh -c 'exit 7'").status == 7)
            #expect(try Service.property("MainPID") != first)
            #expect(try Service.property("NRestarts") == "1")
            #expect(try Box.execRaw("pgrep", "-f", "^sleep 7100").output == processes)
            _ = try Service.call("cancel \(id)")
            _ = try Service.call("wait \(id)")
            #expect(try Box.execRaw("pgrep", "-f", "^sleep 7100").status == 1)
        }
    }
}
