import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("The daemon's memory beside others' commands", .enabled(if: geteuid() == 0))
struct DumpableTests {
    @Test(
        "where the kernel would show the daemon's memory by now, no other user's command is started",
        arguments: ContainmentMode.available)
    func settingChanges(mode: ContainmentMode) throws {
        let folder = try TemporaryFolder.passable()
        let setting = folder.path + "/suid_dumpable"
        try Files.write("0\n", to: setting)
        // A file of the test's own is the kernel's, for this daemon alone.
        let mount = "mount --bind \(setting) /proc/sys/fs/suid_dumpable && exec \"$0\" \"$@\""
        // The test's own process is in another mount namespace.
        let daemon = try DaemonProcess(
            mode, settings: "access.confinedUsers = [\"games\"]", in: folder,
            arguments: ["--system"],
            within: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", mount])
        let client = try daemon.connect(as: .games)
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
        try Files.write("1\n", to: setting)
        let refused = try client.ended(client.submit(["true"]))
        #expect(refused.outcome == .failed)
        #expect(refused.reason?.contains("cannot become the user 5") == true)
        try Files.write("2\n", to: setting)
        #expect(try client.ended(client.submit(["true"])).outcome == .completed)
    }
}
