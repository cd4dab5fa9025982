import Glibc
import LinuxSystem
import Testing

@Suite("What confines a process")
struct ConfinementTests {
    private static let own = ProcessConfinement(
        filterCount: 1, capabilityBounds: 0b110,
        namespaces: [.user: "1", .mount: "2", .network: "3", .process: "4"], rootFolder: "5")

    @Test("only what goes beyond one's own counts, and is named")
    func words() {
        #expect(Self.own.limits(beyond: Self.own) == [])
        var other = Self.own
        other.hasNoNewPrivileges = true
        #expect(other.limits(beyond: Self.own) == ["NoNewPrivileges"])
        #expect(Self.own.limits(beyond: other) == [])
        other.filterCount = 2
        other.namespaces[.mount] = "20"
        other.namespaces[.process] = nil
        #expect(
            other.limits(beyond: Self.own)
                == ["NoNewPrivileges", "a seccomp filter", "another mount, process namespace"])
        other.filterCount = 0
        #expect(!other.limits(beyond: Self.own).contains("a seccomp filter"))
    }

    @Test(
        "a capability that no program can give it counts, and one that none can give anybody does not"
    )
    func capabilities() {
        var other = Self.own
        other.capabilityBounds = 0b1110
        #expect(other.limits(beyond: Self.own) == [])
        for bounds in [UInt64(0), 0b010, 0b1010] {
            other.capabilityBounds = bounds
            #expect(other.limits(beyond: Self.own) == ["a smaller capability bounding set"])
        }
    }

    @Test("another root folder counts, and one that is not known")
    func rootFolder() {
        var other = Self.own
        for folder in ["50", nil] {
            other.rootFolder = folder
            #expect(other.limits(beyond: Self.own) == ["another root folder"])
        }
    }

    @Test("the filters of one's own service count for who runs in it alone")
    func ownFilters() {
        var daemon = ProcessConfinement(filterCount: 3, unit: "system.slice/d.service")
        daemon.commonFilterCount = 0
        let task = ProcessConfinement(filterCount: 3, unit: "system.slice/d.service")
        #expect(task.limits(beyond: daemon) == [])
        let stricter = ProcessConfinement(filterCount: 4, unit: "system.slice/d.service")
        #expect(stricter.limits(beyond: daemon) == ["a seccomp filter"])
        for unit in ["system.slice/w.service", nil] {
            let other = ProcessConfinement(filterCount: 3, unit: unit)
            #expect(other.limits(beyond: daemon) == ["a seccomp filter"])
        }
        daemon.unit = nil
        #expect(!ProcessConfinement(filterCount: 3).limits(beyond: daemon).isEmpty)
    }

    @Test("and those of the service in which its commands are started")
    func commandFilters() {
        var daemon = ProcessConfinement(filterCount: 3, unit: "system.slice/d.service")
        daemon.commonFilterCount = 0
        let command = ProcessConfinement(filterCount: 2, unit: "system.slice/e.service")
        #expect(command.limits(beyond: daemon) == ["a seccomp filter"])
        daemon.commandUnit = "system.slice/e.service"
        daemon.commandFilterCount = 2
        #expect(command.limits(beyond: daemon) == [])
        let stricter = ProcessConfinement(filterCount: 3, unit: "system.slice/e.service")
        #expect(stricter.limits(beyond: daemon) == ["a seccomp filter"])
    }

    @Test("a peer that is this process is confined as it is")
    func ownSocket() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let peer = try PeerCredentials(of: ends[0])
        let process = try PeerProcess(of: ends[0], peer, connectedBy: BootTimeClock.now())
        let view = try ProcessView(ofOurs: getpid())
        let confinement = try process.confinement(view)
        #expect(try process.confinement(view, beyond: .own()) == confinement)
        #expect(throws: SystemError.self) { try process.confinement(nil) }
        #expect(confinement.limits(beyond: try .own()) == [])
        #expect(confinement.namespaces.count == 4)
        #expect(confinement.rootFolder != nil)
    }

    @Test("a peer that is gone is not known")
    func gone() throws {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        let own = try PeerCredentials(of: ends[0])
        #expect(own.processID == getpid())
        // The pair names this process by its pidfd; the number alone is another's, who is not there.
        let fields = PeerCredentials(
            user: own.user, group: own.group, processID: .max, groups: own.groups)
        #expect(throws: SystemError.self) {
            _ = try PeerProcess(of: ends[0], fields, connectedBy: BootTimeClock.now())
                .confinement(nil)
        }
        #expect(throws: SystemError.self) {
            let unseen = PeerCredentials(
                user: own.user, group: own.group, processID: 0, groups: own.groups)
            _ = try PeerProcess(of: ends[0], unseen, connectedBy: 0)
        }
    }
}

extension LinuxTests {
    /// What confines a process that this one has started.
    @Suite struct ForeignNamespaceTests {
        @Test("of one in another user namespace nothing else is looked at, where that is enough")
        func userNamespace() throws {
            let harness = try Harness(.supervisor)
            let task = try harness.makeTask()
            let words = ["--no-new-privs", "unshare", "--user", "sleep", "1000"]
            _ = try task.start(LaunchRequest(arguments: ["/usr/bin/setpriv"] + words))
            let own = try ProcessConfinement.own()
            try harness.waitFor {
                guard let command = harness.startedProcessID else { return false }
                return Self.userNamespace(of: command) != Self.userNamespace(of: getpid())
            }
            let process = try #require(harness.startedProcessID)
            let view = try ProcessView(ofOurs: process)
            let seen = try ProcessConfinement(view, beyond: own)
            #expect(seen.limits(beyond: own) == ["another user namespace"])
            let all = try ProcessConfinement(view)
            #expect(all.limits(beyond: own) == ["NoNewPrivileges", "another user namespace"])
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }

        private static func userNamespace(of process: Int32) -> String {
            var buffer = [UInt8](repeating: 0, count: 64)
            let count = readlink("/proc/\(process)/ns/user", &buffer, buffer.count)
            return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        }
    }
}
