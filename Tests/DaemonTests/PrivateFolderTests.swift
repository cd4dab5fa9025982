import Glibc
import TaskAPI
import Testing
import Varlink

@Suite(
    "What a user cannot reach, the daemon does not reach for them",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct PrivateFolderTests {
    private static let secret = "for the owner alone"

    /// Makes a folder with a program that prints, both of one user.
    private static func makeFolder(
        _ path: String, of user: TestUser, mode: mode_t, printing text: String
    ) throws {
        guard mkdir(path, mode) == 0 else {
            throw Child.CannotStart(program: "mkdir \(path)", errno: errno)
        }
        try Files.write("#!/bin/sh\necho \(text)\n", to: path + "/program")
        chmod(path + "/program", 0o755)
        try user.own(path + "/program")
        try user.own(path)
    }

    @Test(
        "a private folder is neither directory nor the place of a command, and its content is not told",
        arguments: ContainmentMode.available, [TestUser.games, .root])
    func privateFolder(mode: ContainmentMode, owner: TestUser) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let folder = daemon.folder.path + "/private"
        try Self.makeFolder(folder, of: owner, mode: 0o700, printing: Self.secret)
        func end(_ command: [String], in directory: String?, as user: TestUser) throws -> Tasks.Task
        {
            let client = try daemon.connect(as: user)
            return try client.ended(try client.submit(command) { $0.directory = directory })
        }
        let denied = "Permission denied"
        for user in [TestUser.backup, .nameless(20_101)] {
            let entered = try end(["ls"], in: folder, as: user)
            #expect(entered.outcome == .failed)
            #expect(entered.reason == "cannot enter \"\(folder)\": \(denied)")
            // Whether a file is there cannot be told from the answer.
            for file in ["program", "nothing"] {
                let run = try end(["\(folder)/\(file)"], in: nil, as: user)
                #expect(run.outcome == .failed)
                #expect(run.reason == "cannot run \"\(folder)/\(file)\": \(denied)")
                let below = try end(["ls"], in: "\(folder)/\(file)", as: user)
                #expect(below.reason == "cannot enter \"\(folder)/\(file)\": \(denied)")
            }
            let found = try end(["program"], in: nil, as: user)
            #expect(found.reason == "cannot run \"program\": No such file or directory")
        }
        #expect(try end(["./program"], in: folder, as: owner).outcome == .completed)
    }

    @Test(
        "links that change while tasks are started lead nowhere that their submitter cannot go",
        arguments: ContainmentMode.available)
    func race(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let folder = daemon.folder.path
        let user = TestUser.backup
        try Self.makeFolder(folder + "/private", of: .games, mode: 0o700, printing: Self.secret)
        try Self.makeFolder(folder + "/mine", of: user, mode: 0o755, printing: "mine")
        let link = folder + "/mine/link"
        let flips = """
            cd \(folder)/mine
            while :; do
                ln -s \(folder)/private next && mv -T next link
                ln -s \(folder)/mine next && mv -T next link
            done
            """
        let child = try Child("/usr/bin/setpriv", user.privileges + ["sh", "-c", flips])
        var seen: Set<String> = []
        try eventually("the link changes") {
            seen.insert(Files.target(of: link))
            return seen.count >= 2
        }
        let client = try daemon.connect(as: user)
        let ids = try (0..<200).map { number in
            number.isMultiple(of: 2)
                ? try client.submit(["sh", "-c", "pwd -P; ./program"]) { $0.directory = link }
                : try client.submit([link + "/program"])
        }
        for id in ids {
            let task = try client.ended(id)
            let text = try daemon.text(of: id, as: user)
            #expect(!text.contains(Self.secret))
            #expect(!text.contains("private"))
            if task.outcome == .completed {
                #expect(text.hasSuffix("mine\n"))
            } else {
                #expect(task.reason?.hasPrefix("cannot ") == true || task.exit != nil)
            }
        }
        #expect(child.isRunning)
        // At rest, the owner of either folder gets what is theirs.
        let other = try daemon.connect(as: .games)
        let own = try other.submit(["./program"]) { $0.directory = folder + "/private" }
        #expect(try other.ended(own).outcome == .completed)
        #expect(try daemon.text(of: own, as: .games) == Self.secret + "\n")
    }
}

extension Files {
    /// Where a link leads; empty where there is none.
    static func target(of link: String) -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink(link, &buffer, buffer.count)
        return String(
            decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
