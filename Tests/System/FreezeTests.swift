import TestKit
import Testing

extension SystemTests {
    @Suite("Freezing")
    struct FreezeTests {
        /// Each test begins with a daemon that never ran.
        init() throws {
            try InstalledUnits.start()
        }

        @Test("a frozen task is thawed before it is told to end")
        func frozenTask() throws {
            let id = try Service.call(
                "run --budget 600s --grace 200s -- sh -c 'trap \"exit 3\" TERM; sleep 7400 & wait'"
            ).line
            try Box.wait(for: "1", from: "sh", "-c", "pgrep -fc '^sleep 7400'")
            let group = try Box.execRaw(
                "sh", "-c", "grep ^0:: /proc/$(pgrep -f '^sleep 7400')/cgroup | cut -c 4-"
            ).line
            #expect(group.contains("/bgtask-executor.service/commands/command-"))
            let folder = "/sys/fs/cgroup" + group
            _ = try Box.execRaw("sh", "-c", "echo 1 >\(folder)/cgroup.freeze")
            try Box.wait(
                for: "frozen 1", from: "grep", "frozen", "\(folder)/cgroup.events")

            _ = try Service.call("cancel \(id)")
            _ = try Service.call("wait \(id)")
            let ended = try Service.call("show --json \(id)").output
            #expect(ended.contains(#""outcome":"cancelled""#), "\(ended)")
            // It ran its trap, which SIGKILL at the end of the grace would not have let it do.
            #expect(ended.contains(#""status":3"#), "\(ended)")
        }

        /// Without TimeoutAbortSec= it would hang between SIGABRT, which the frozen do not hear, and SIGKILL.
        @Test("a unit that is frozen for longer than its watchdog waits is ended and started again")
        func frozenForTooLong() throws {
            try InstalledUnits.start(dropIn: "[Service]\nWatchdogSec=10s\n")
            let id = try Service.call("run --budget 600s -- sleep 7700").line
            let process = try Service.property("MainPID")
            _ = try Box.execRaw("systemctl", "freeze", Service.name)
            try Service.wait(for: "1", of: "NRestarts")
            #expect(try Service.call("run --wait -- sh -c 'exit 7'").status == 7)
            #expect(try Service.property("MainPID") != process)
            // What the unit had run at its end would be frozen too, and be waited for.
            let journal = try Box.execRaw(
                "sh", "-c", "journalctl --sync; journalctl --output=cat --unit=\(Service.name)")
            #expect(journal.output.contains("Watchdog timeout"), "\(journal)")
            #expect(!journal.output.contains("'stop-post' timed out"), "\(journal)")
            #expect(!journal.output.contains("Stop-post operation timed out"), "\(journal)")
            // The command is in another unit, and was never frozen.
            #expect(try Service.call("show \(id)").output.contains("running"))
            _ = try Service.call("cancel \(id)")
            // systemd 252 takes the new one for frozen until it is told.
            #expect(try Box.execRaw("systemctl", "thaw", Service.name).status == 0)
            #expect(try Service.property("FreezerState") == "running")
        }

        @Test("a unit that is frozen and thawed goes on, and does what it was asked meanwhile")
        func frozenUnit() throws {
            let id = try Service.call("run --budget 600s --grace 1s -- sleep 7500").line
            let process = try Service.property("MainPID")
            #expect(try Box.execRaw("systemctl", "freeze", Service.name).status == 0)
            #expect(try Service.property("FreezerState") == "frozen")
            // Waits at the socket until the thaw.
            let asked = try Box.execRaw(
                "sh", "-c",
                "\(Programs.path("bgtaskctl")) --system cancel \(id) & systemctl thaw \(Service.name); wait $!"
            )
            #expect(asked.status == 0, "\(asked)")
            #expect(try Service.property("FreezerState") == "running")
            _ = try Service.call("wait \(id)")
            #expect(
                try Service.call("show --json \(id)").output.contains(#""outcome":"cancelled""#))
            #expect(try Service.property("MainPID") == process)
            #expect(try Service.property("NRestarts") == "0")
        }
    }
}
