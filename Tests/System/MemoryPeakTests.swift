import Foundation
import TestKit
import Testing

extension VirtualMachineTests.ClockJumpTests {
    private struct Use: Decodable {
        var cpuMs: Int?
        var memoryPeakBytes: Int?
    }

    @Test("where there is a memory controller, each command's peak memory is its own")
    func memoryPeaks() throws {
        let started = try VirtualMachine.exec(
            "systemd-run", "--quiet", "--unit=bgtaskd-peaks", "-p", "Type=notify",
            "-p", "Delegate=yes", "\(Programs.path("bgtaskd"))", "--socket", "/run/peaks/socket",
            "--state-dir", "/run/peaks/state")
        try #require(started.status == 0, "\(started.errors)")
        // The file stays behind, in the page cache of whoever wrote it.
        let filling = "dd if=/dev/zero of=/run/filled bs=1M count=40"
        let commands = [
            "true", filling, "true", "\(Programs.path("process-test-child")) burn 0 24",
        ]
        let mebibytes = [0..<8, 40..<60, 0..<8, 24..<40]
        for (command, expected) in zip(commands, mebibytes) {
            let use = try use(of: command)
            #expect(try #require(use.cpuMs) > 0, "\(command)")
            let peak = try #require(use.memoryPeakBytes, "\(command)")
            #expect(peak > 0 && expected.contains(peak >> 20), "\(peak) bytes of \(command)")
        }
        let stopped = try VirtualMachine.exec("systemctl", "stop", "bgtaskd-peaks")
        #expect(stopped.status == 0)
    }

    /// Runs a command to its end.
    private func use(of command: String) throws -> Use {
        let bgtaskctl = "\(Programs.path("bgtaskctl"))"
        let shown = try VirtualMachine.exec(
            "sh", "-c",
            """
            export BGTASK_SOCKET=/run/peaks/socket
            id=$(\(bgtaskctl) run -- \(command)) && \(bgtaskctl) wait $id >/dev/null &&
                \(bgtaskctl) show --json $id
            """)
        try #require(shown.status == 0, "\(shown.errors)")
        return try JSONDecoder().decode(Use.self, from: Data(shown.output.utf8))
    }
}
