import Testing

extension VirtualMachineTests.ClockJumpTests {
    @Test("where there is a pids controller, a task gets no more processes than it may have")
    func processLimit() throws {
        let folder = "/run/processes"
        let started = try VirtualMachine.exec(
            "sh", "-c",
            """
            mkdir -p \(folder) && echo 'limits.processesPerTaskMax = 20' >\(folder)/bgtaskd.toml &&
            systemd-run --quiet --unit=bgtaskd-processes -p Type=notify -p Delegate=yes \
                \(Box.buildFolder)/bgtaskd --config \(folder)/bgtaskd.toml \
                --socket \(folder)/socket --state-dir \(folder)/state
            """)
        try #require(started.status == 0, "\(started.errors)")
        let ctl = "\(Box.buildFolder)/bgtaskctl --socket \(folder)/socket"
        let bomb = "for i in $(seq 40); do sleep 3 & done; wait"
        let shown = try VirtualMachine.exec(
            "sh", "-c",
            """
            \(ctl) run --follow -- sh -c '\(bomb)' 2>&1
            \(ctl) run --follow -- sh -c 'cat /sys/fs/cgroup$(cut -d: -f3 /proc/self/cgroup)/pids.max'
            """)
        #expect(shown.output.contains("fork"), "\(shown)")
        #expect(shown.output.hasSuffix("\n20\n"), "\(shown)")
        #expect(try VirtualMachine.exec("systemctl", "stop", "bgtaskd-processes").status == 0)
    }
}
