import Glibc
import TaskAPI
import TestKit
import Testing

/// An executor that was started before an upgrade goes over to what was installed, once nothing runs.
@Suite(
    "An executor of another version",
    .enabled(if: ContainmentMode.whyNoCgroup == nil, "takes cgroups"))
struct ExecutorRenewalTests {
    /// A bgtask-executor that says that it has another version, until the one that was built is installed.
    private struct Upgrade {
        private let folder: TemporaryFolder
        let executor: ExecutorProcess

        init() throws {
            folder = try TemporaryFolder()
            try Upgrade.install(
                Upgrade.other(Files.bytes(Programs.path("bgtask-executor"))), in: folder)
            executor = try ExecutorProcess(program: folder.path + "/bgtask-executor")
        }

        func install() throws {
            try Upgrade.install(Files.bytes(Programs.path("bgtask-executor")), in: folder)
        }

        /// As a package does: what runs has its file still. No process here has the program open for writing, since one
        /// that it starts meanwhile would have it too, and the program could not be run (ETXTBSY).
        private static func install(_ program: [UInt8], in folder: TemporaryFolder) throws {
            let (data, new) = (folder.path + "/data", folder.path + "/new")
            try Files.write(program, to: data)
            let copy = try Child("/usr/bin/install", ["-m", "755", data, new])
            guard try copy.waitForEnd() == .status(0) else {
                throw Child.CannotStart(program: new, errno: EIO)
            }
            rename(new, folder.path + "/bgtask-executor")
        }

        /// The program with a version of as many bytes.
        private static func other(_ program: [UInt8]) -> [UInt8] {
            let version = Array("\(Version.current)\0".utf8)
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            let other = version.map { digits.contains($0) ? UInt8(ascii: "9") : $0 }
            var program = program
            for start in program.indices.dropLast(version.count)
            where program[start] == version[0]
                && program[start..<start + version.count].elementsEqual(version)
            {
                program.replaceSubrange(start..<start + version.count, with: other)
            }
            return program
        }

        /// What a daemon says of it once it has gone over.
        var renewed: String {
            "version \(Version.current), connected, process \(executor.processID)"
        }
    }

    private func executor(of daemon: DaemonProcess) throws -> String? {
        try daemon.connect().ask(Manager.Describe.self).executor
    }

    @Test("runs its program anew before the daemon serves, where it is idle")
    func idle() throws {
        let upgrade = try Upgrade()
        try upgrade.install()
        let daemon = try DaemonProcess(.cgroup, arguments: upgrade.executor.arguments)
        #expect(try executor(of: daemon) == upgrade.renewed)
        let client = try daemon.connect()
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
    }

    @Test("goes on while a command runs, and runs its program anew after that")
    func busy() throws {
        let upgrade = try Upgrade()
        var daemon = try DaemonProcess(.cgroup, arguments: upgrade.executor.arguments)
        let gate = daemon.folder.path + "/gate"
        let id = try daemon.connect().submit(script: "until [ -e \(gate) ]; do sleep 0.05; done")
        try eventually("it runs") { try daemon.connect().show(id).state == .running }
        try upgrade.install()
        try daemon.kill()
        daemon = try DaemonProcess(
            .cgroup, in: daemon.folder, arguments: upgrade.executor.arguments)
        #expect(try executor(of: daemon) != upgrade.renewed)
        try Files.write("", to: gate)
        #expect(try daemon.connect().ended(id).outcome == .completed)
        try eventually("it has gone over") { try executor(of: daemon) == upgrade.renewed }
        let client = try daemon.connect()
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
    }
}
