import TestKit
import Testing

extension SystemTests {
    @Suite("systemctl stop")
    struct DrainTests {
        /// Each test begins with a daemon that never ran.
        init() throws {
            try Service.set("queue.slots = 64\n")
            // Less than the grace: without EXTEND_TIMEOUT_USEC systemd would kill all.
            try InstalledUnits.start(dropIn: "[Service]\nTimeoutStopSec=2s\n")
        }

        @Test("ends 50 tasks, of which 15 ignore SIGTERM, in time, each with its outcome")
        func drain() throws {
            defer { try? Service.set(nil) }
            let marks = "/run/drain-marks"
            let ready = "touch \(marks)/$BGTASK_ID; exec sleep 7300"
            let submit = """
                mkdir -p \(marks); rm -f \(marks)/*
                for number in $(seq 50); do
                    [ $number -gt 15 ] && ignore= || ignore='trap "" TERM;'
                    \(Programs.path("bgtaskctl")) --system run --budget 600s --grace 4s \
                        -- sh -c "$ignore \(ready.replacing("$", with: "\\$"))" || exit
                done
                """
            let submitted = try Box.execRaw("sh", "-c", submit)
            #expect(submitted.output.split(separator: "\n").count == 50, "\(submitted)")
            try Box.wait(for: "50", from: "sh", "-c", "ls \(marks) | wc -l")
            try Box.wait(for: "50", from: "sh", "-c", "pgrep -fc '^sleep 7300'")
            let invocation = try Service.property("InvocationID")

            #expect(try Box.execRaw("systemctl", "stop", Service.name).status == 0)
            #expect(try Service.property("Result") == "success")
            #expect(try Service.property("ExecMainStatus") == "0")
            #expect(try Service.property("StatusText") == "stopped: 50 interrupted")
            #expect(try Box.execRaw("pgrep", "-f", "^sleep 7300").status == 1)
            // What ran them ends as well, without being asked by systemd.
            try Box.wait(
                for: "inactive", from: "systemctl", "show", "-P", "ActiveState",
                "bgtask-executor.service")
            #expect(
                try Box.execRaw("ls", "/sys/fs/cgroup/bgtaskd.slice").output.contains("bgtask")
                    == false)

            let ended = "BGTASK_STATE=ended"
            #expect(try Service.entries(of: invocation, ended) == 50)
            #expect(
                try Service.entries(of: invocation, "\(ended) BGTASK_OUTCOME=interrupted") == 50)
            #expect(try Service.entries(of: invocation, "\(ended) BGTASK_SIGNAL=SIGKILL") == 15)
        }
    }
}
