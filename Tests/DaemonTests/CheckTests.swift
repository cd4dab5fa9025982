import Glibc
import TaskAPI
import Testing
import Varlink

@Suite("What a start and --check-config find unsafe or missing")
struct CheckTests {
    /// Somebody who is neither root nor the one who runs the tests.
    private static let stranger: uid_t = geteuid() == 5 ? 6 : 5

    /// Places for a daemon that are as they should be.
    private struct Places {
        let folder: TemporaryFolder
        var settings: String { folder.path + "/bgtaskd.toml" }
        var socket: String { folder.path + "/run/socket" }
        var state: String { folder.path + "/state" }

        init(_ text: String = "") throws {
            folder = try TemporaryFolder()
            try Files.write(text, to: settings)
            chmod(settings, 0o644)
        }
    }

    /// Runs the program to its end.
    private func run(
        _ places: Places, _ arguments: [String] = [], socket: String? = nil
    ) throws -> (ending: Child.Ending, output: String, lines: [Substring]) {
        let (output, error) = (places.folder.path + "/stdout", places.folder.path + "/stderr")
        for file in [output, error] { unlink(file) }
        let child = try Child(
            DaemonProcess.program,
            [
                "--config", places.settings, "--socket", socket ?? places.socket, "--state-dir",
                places.state,
            ] + arguments,
            environment: ["PATH=/usr/bin:/bin", "HOME=/"], output: output, error: error)
        let ending = try child.waitForEnd()
        return (ending, Files.text(output), Files.text(error).split(separator: "\n"))
    }

    /// What is wrong is one line, the same for a start and for the check, with the same status.
    private func expect(
        _ places: Places, status: Int32, _ parts: String..., socket: String? = nil,
        location: SourceLocation = #_sourceLocation
    ) throws {
        for arguments in [["--check-config"], []] {
            let found = try run(places, arguments, socket: socket)
            #expect(found.ending == .status(status), sourceLocation: location)
            #expect(found.lines.count == 1, "\(found.lines)", sourceLocation: location)
            for part in parts {
                #expect(
                    found.lines.first?.contains(part) == true, "\(found.lines)",
                    sourceLocation: location)
            }
        }
        #expect(!Files.exists(places.state + "/lock"), sourceLocation: location)
    }

    @Test("good places are fine, and the check leaves nothing behind")
    func good() throws {
        let places = try Places("limits.clientsMax = 10")
        let found = try run(places, ["--check-config"])
        #expect(found.ending == .status(0))
        #expect(found.output == "fine: \(places.settings)\n")
        #expect(found.lines.isEmpty)
        #expect(!Files.exists(places.state))
        #expect(!Files.exists(places.folder.path + "/run"))
    }

    @Test("a settings file that others can write is refused")
    func writableSettings() throws {
        let places = try Places()
        chmod(places.settings, 0o666)
        try expect(places, status: 78, places.settings + ": can be written by others", "chmod")
    }

    @Test("a settings file of another user is refused", .enabled(if: geteuid() == 0))
    func foreignSettings() throws {
        let places = try Places()
        chown(places.settings, Self.stranger, 0)
        try expect(places, status: 78, places.settings + ": belongs to user \(Self.stranger)")
    }

    @Test("a folder of drop-ins that others can write is refused")
    func writableDropIns() throws {
        let places = try Places()
        let folder = places.settings + ".d"
        mkdir(folder, 0o700)
        chmod(folder, 0o777)
        try expect(places, status: 78, folder + ": can be written by others")
    }

    @Test("a reload refuses a settings file that others can write by now")
    func reload() throws {
        let daemon = try DaemonProcess(.supervisor)
        let client = try daemon.connect()
        chmod(daemon.settingsPath, 0o666)
        #expect(throws: ClientError.self) {
            try client.call(Manager.Reload.self, Manager.Reload.Input())
        }
        chmod(daemon.settingsPath, 0o600)
        _ = try client.call(Manager.Reload.self, Manager.Reload.Input())
    }

    @Test("a state folder that others can write, or above which others can, is refused")
    func writableState() throws {
        let places = try Places()
        mkdir(places.state, 0o700)
        chmod(places.state, 0o777)
        try expect(places, status: 77, "the state folder", places.state, "777", "chmod")
        chmod(places.state, 0o700)
        chmod(places.folder.path, 0o777)
        let found = try run(places, ["--check-config"])
        #expect(found.ending == .status(77))
        // The settings, the state and the socket are all below it.
        #expect(found.lines.count == 3, "\(found.lines)")
        #expect(found.lines.allSatisfy { $0.contains("\(places.folder.path) can be written") })
        #expect(try run(places).lines.count == 1)
    }

    @Test("a state folder of another user is refused", .enabled(if: geteuid() == 0))
    func foreignState() throws {
        let places = try Places()
        mkdir(places.state, 0o700)
        chown(places.state, Self.stranger, 0)
        try expect(places, status: 77, places.state + " belongs to user \(Self.stranger)")
    }

    @Test(
        "a link of another user on the way to the state folder is refused, one of root's is followed",
        .enabled(if: geteuid() == 0))
    func foreignLink() throws {
        let places = try Places()
        let link = places.folder.path + "/link"
        mkdir(places.folder.path + "/there", 0o700)
        symlink("there/../there", link)
        let arguments = ["--state-dir", link + "/state", "--check-config"]
        #expect(try run(places, arguments).ending == .status(0))
        lchown(link, Self.stranger, 0)
        let found = try run(places, arguments)
        #expect(found.ending == .status(77))
        #expect(found.lines.count == 1)
        #expect(found.lines.first?.contains("\(link) is a link of user \(Self.stranger)") == true)
    }

    @Test("a link in a folder that others can write is refused, wherever it leads")
    func linkInOpenFolder() throws {
        let places = try Places()
        let open = places.folder.path + "/open"
        mkdir(open, 0o700)
        chmod(open, 0o777)
        symlink("../", open + "/link")
        let arguments = ["--state-dir", open + "/link/state", "--check-config"]
        let found = try run(places, arguments)
        #expect(found.ending == .status(77))
        #expect(found.lines.first?.contains("\(open) can be written by others") == true)
    }

    @Test("a socket path that is too long, or where another file is, is refused")
    func socketPath() throws {
        let places = try Places()
        let long = places.folder.path + "/" + String(repeating: "s", count: 107)
        try expect(places, status: 69, "107 bytes at most", "--socket", socket: long)
        try expect(
            places, status: 69, "something that is not a socket is there", socket: places.settings)
        #expect(Files.exists(places.settings))
    }

    @Test("an operators' group that is not there is named")
    func unknownGroup() throws {
        let places = try Places("[access]\noperators = \"no-such-group\"")
        try expect(places, status: 78, "access.operators", "no-such-group", "groupadd")
    }

    @Test("a socket that is served is no mistake of the settings, and is said")
    func served() throws {
        let daemon = try DaemonProcess(.supervisor)
        let places = try Places()
        let found = try run(places, ["--check-config"], socket: daemon.socketPath)
        #expect(found.ending == .status(0))
        #expect(found.output.contains("\(daemon.socketPath) is served by a daemon now"))
        #expect(daemon.canConnect())
    }

    @Test("all that is wrong is found at once")
    func all() throws {
        let places = try Places("[access]\noperators = \"no-such-group\"")
        mkdir(places.state, 0o700)
        chmod(places.state, 0o777)
        let found = try run(places, ["--check-config"], socket: places.settings)
        #expect(found.lines.count == 3, "\(found.lines)")
        #expect(found.ending == .status(77))
    }
}
