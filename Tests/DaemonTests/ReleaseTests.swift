import Glibc
import TaskAPI
import TestKit
import Testing

/// Who reaps a process drops the names of its folder in /proc that the kernel has remembered.
@Suite(
    "A process of which the kernel remembers much",
    .enabled(if: ContainmentMode.available.contains(.cgroup)))
struct ReleaseTests {
    enum Process: CaseIterable {
        case ofCommand, leftBehind
    }

    @Test("does not hold up the executor when it ends", arguments: Process.allCases)
    func release(process: Process) throws {
        let daemon = try DaemonProcess(.cgroup)
        let client = try daemon.connect()
        let gate = daemon.folder.path + "/gate"
        mkfifo(gate, 0o600)
        let remembered = "\(Programs.path("process-test-child")) remembered 15000 \(gate)"
        let id =
            switch process {
            case .ofCommand: try client.submit(script: "exec " + remembered)
            case .leftBehind: try client.submit(script: "(\(remembered) &); exec sleep 1000")
            }
        try eventually("it is prepared") { try daemon.text(of: id).hasSuffix("\n") }
        let number = try #require(try pid_t(daemon.text(of: id).dropLast()))
        let executor = try #require(daemon.executorID)
        let before = computed(by: executor)
        try Files.write("", to: gate)
        try eventually("it is reaped") { kill(number, 0) != 0 }
        // Its number is free before the rest is dropped.
        try eventually("threads have dropped the names", seconds: 30) {
            let now = computed(by: executor)
            return now.others - before.others > now.loop - before.loop
        }
        if process == .ofCommand { #expect(try client.ended(id).exit?.status == 0) }
    }

    /// The nanoseconds that the first thread of a process and the others have computed: the first field of `schedstat`.
    private func computed(by process: pid_t) -> (loop: Int, others: Int) {
        let threads = "/proc/\(process)/task/"
        var times = (loop: 0, others: 0)
        for thread in Files.names(threads) {
            let time = Int(Files.text(threads + thread + "/schedstat").prefix { $0 != " " }) ?? 0
            if thread == "\(process)" { times.loop += time } else { times.others += time }
        }
        return times
    }
}
