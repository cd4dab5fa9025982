import TestKit
import Testing

extension VirtualMachineTests.ClockJumpTests {
    /// Starts a daemon as a unit of its own.
    ///
    /// - Parameter prepares: what the shell does that becomes the daemon.
    /// - Returns: how its bgtaskctl is called.
    private func startDaemon(
        _ name: String, settings: String, prepares: String = ":"
    ) throws -> String {
        let folder = "/run/\(name)"
        let started = try VirtualMachine.exec(
            "sh", "-c",
            """
            mkdir -p \(folder) && echo '\(settings)' >\(folder)/bgtaskd.toml &&
            systemd-run --quiet --unit=bgtaskd-\(name) -p Type=notify -p Delegate=yes \
                sh -c '\(prepares); exec "$@"' sh \
                \(Programs.path("bgtaskd")) --config \(folder)/bgtaskd.toml \
                --socket \(folder)/socket --state-dir \(folder)/state
            """)
        try #require(started.status == 0, "\(started.errors)")
        return "\(Programs.path("bgtaskctl")) --socket \(folder)/socket"
    }

    private func stopDaemon(_ name: String) throws {
        #expect(try VirtualMachine.exec("systemctl", "stop", "bgtaskd-\(name)").status == 0)
    }

    @Test("where there is a pids controller, a task gets no more processes than it may have")
    func processLimit() throws {
        let ctl = try startDaemon("processes", settings: "limits.processesPerTaskMax = 20")
        let bomb = "for i in $(seq 40); do sleep 3 & done; wait"
        let shown = try VirtualMachine.exec(
            "sh", "-c",
            """
            \(ctl) run --follow -- sh -c '\(bomb)' 2>&1
            \(ctl) run --follow --quiet -- sh -c 'cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/pids.max'
            """)
        #expect(shown.output.contains("fork"), "\(shown)")
        #expect(shown.output.hasSuffix("\n20\n"), "\(shown)")
        try stopDaemon("processes")
    }

    @Test("zombies that a task has left to somebody else count for no other task")
    func zombies() throws {
        // Where memory is counted too, a kernel before 6.12 lets no group be used again.
        let ctl = try startDaemon(
            "zombies", settings: "",
            prepares: """
                group=/sys/fs/cgroup$$(cut -d: -f3 /proc/self/cgroup)
                mkdir $$group/inner
                echo 0 >$$group/inner/cgroup.procs
                echo +pids >$$group/cgroup.subtree_control
                mark="import os, sys; os.setxattr(sys.argv[1], sys.argv[2], sys.argv[3].encode())"
                /usr/bin/python3 -c "$$mark" $$group/inner trusted.delegate 1
                """)
        // The first process of another pid namespace reaps nobody.
        let leave = """
            nsenter --target=$1 --pid -- sh -c "for i in 1 2 3 4 5; do sleep 1 & done"
            until [ $(grep -l "^State:.Z" /proc/[0-9]*/status 2>/dev/null | wc -l) -ge 5 ]; do sleep 0.1; done
            cut -d: -f3 /proc/self/cgroup
            """
        let count = """
            group=$(cut -d: -f3 /proc/self/cgroup)
            echo $group
            read number </sys/fs/cgroup$group/pids.current
            echo $number
            """
        let shown = try VirtualMachine.exec(
            "sh", "-c",
            """
            unshare --pid --fork sleep 1000 &
            until reaper=$(pgrep --parent $!); do sleep 0.1; done
            \(ctl) run --follow --quiet -- sh -c '\(leave)' sh $reaper
            \(ctl) run --follow --quiet -- sh -c '\(count)'
            kill -KILL $reaper
            """)
        let lines = shown.output.split(separator: "\n")
        try #require(lines.count == 3, "\(shown)")
        #expect(lines[0].contains("command-") && lines[1].contains("command-"), "\(shown)")
        #expect(lines[0] != lines[1], "\(shown)")
        #expect(lines[2] == "1", "\(shown)")
        try stopDaemon("zombies")
    }
}
