import CTestUsers
import Glibc
import Varlink

/// A user of the machine, with the groups that their connections have.
///
/// Those with names are on every Debian; nothing is logged in as them.
struct TestUser: Equatable, CustomStringConvertible {
    let name: String
    let user: UInt32
    let group: UInt32
    let groups: [UInt32]

    static let root = TestUser(name: "root", user: 0, group: 0, groups: [0])
    static let games = TestUser(name: "games", user: 5, group: 60, groups: [60])
    static let backup = TestUser(name: "backup", user: 34, group: 34, groups: [34])
    /// Has a supplementary group beside their own: `staff`.
    static let staff = TestUser(name: "www-data", user: 33, group: 33, groups: [33, 50])

    /// `staff` is their group, and not among the supplementary ones.
    static let sysStaff = TestUser(name: "sys", user: 3, group: 50, groups: [3])

    /// A user without a name.
    static func nameless(_ user: UInt32) -> TestUser {
        TestUser(name: String(user), user: user, group: user, groups: [user])
    }

    var description: String { name }

    /// Connects to a socket as this user.
    ///
    /// - Returns: the connected socket, which is the caller's to close.
    func connect(to path: String) throws -> Int32 {
        let connected = test_connect_as(path, user, group, groups, groups.count)
        guard connected >= 0 else { throw CannotConnect(user: name, errno: errno) }
        return connected
    }

    struct CannotConnect: Error, Equatable {
        let user: String
        let errno: Int32
    }

    /// The options of setpriv(1) by which a program runs as this user.
    var privileges: [String] {
        [
            "--reuid=\(user)", "--regid=\(group)",
            "--groups=\(groups.map(String.init).joined(separator: ","))",
        ]
    }

    /// Gives a file or a folder to this user.
    func own(_ path: String) throws {
        guard lchown(path, user, group) == 0 else {
            throw Child.CannotStart(program: "chown \(path)", errno: errno)
        }
    }
}

extension TemporaryFolder {
    /// A folder that everybody may pass through, and nobody else may list.
    static func passable() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        chmod(folder.path, 0o711)
        return folder
    }
}

extension DaemonProcess {
    /// The setting by which members of `staff` are operators.
    static let staffOperates = "access.operators = \"staff\"\n"

    /// Starts a daemon whose socket every user reaches.
    static func forEverybody(
        _ mode: ContainmentMode, settings: String = ""
    ) throws -> DaemonProcess {
        try DaemonProcess(
            mode, settings: settings, in: .passable(), arguments: ["--system"])
    }

    func connect(as user: TestUser) throws -> VarlinkClient {
        VarlinkClient(adopting: try user.connect(to: socketPath), timeout: Self.replyTimeout)
    }
}
