import TestKit
import Testing

extension SystemTests {
    /// Orders about units, given by a program of the Systemd module (Tests/SystemdProbe).
    @Suite("Freezing units through their manager")
    final class UnitFreezeTests {
        private static let probe = "\(Programs.path("systemd-probe")) unit"

        /// A service that counts: its file grows by a byte a turn.
        private struct Counter {
            let unit: String
            var file: String { "/run/count/\(unit)" }

            var script: String { BoxScript.count(in: file) }

            /// How far it has counted; 0 where it has not begun.
            func size() throws -> Int {
                let size = try Box.execRaw("stat", "-c", "%s", file)
                return size.status == 0 ? try #require(Int(size.line)) : 0
            }

            /// Waits until it has counted on.
            func waitForMore() throws {
                let before = try size()
                let grows =
                    "until [ \"$(stat -c %s \(file) 2>/dev/null || echo 0)\" -gt \(before + 10) ]; do sleep 0.05; done"
                try Installation.succeed(Installation.shell(grows))
            }
        }

        private static let other = Counter(unit: "unfrozen.service")

        /// Each test begins with a counter that goes on, whatever is frozen beside it.
        init() throws {
            try Installation.succeed(
                Installation.shell("rm -rf /run/count && mkdir -m 1777 /run/count"))
            try Self.start(Self.other)
        }

        deinit {
            _ = try? Box.execRaw("systemctl", "stop", Self.other.unit)
        }

        private static func start(_ counter: Counter, _ options: String = "") throws {
            _ = try Box.execRaw("systemctl", "stop", counter.unit)
            try Installation.succeed(
                Installation.shell(
                    """
                    systemctl reset-failed \(counter.unit) 2>/dev/null
                    systemd-run --quiet --collect --unit=\(counter.unit) \(options) \
                        sh -c '\(counter.script)'
                    """))
            try counter.waitForMore()
        }

        private func order(_ words: String) throws -> String {
            try Installation.shell("\(Self.probe) \(words)").line
        }

        /// While the other counts on, this one must not.
        private func expectStill(_ counter: Counter, group: String) throws {
            let events = try Box.execRaw("cat", "/sys/fs/cgroup\(group)/cgroup.events").output
            #expect(events.contains("frozen 1"))
            let before = try counter.size()
            try Self.other.waitForMore()
            #expect(try counter.size() == before)
        }

        @Test("a service stands still from the answer on, and goes on after the thaw")
        func service() throws {
            let counter = Counter(unit: "frozen.service")
            try Self.start(counter)
            defer { _ = try? Box.execRaw("systemctl", "stop", counter.unit) }
            let group = "/system.slice/frozen.service"
            #expect(
                try order("system describe frozen.service")
                    == "active running true \(group) 0\ndone")
            for thaw in ["thaw", "thaw-at-start"] {
                #expect(try order("system freeze frozen.service") == "done")
                let state = try Box.execRaw("systemctl", "show", "-P", "FreezerState", counter.unit)
                #expect(state.line == "frozen")
                #expect(try order("system describe frozen.service").hasPrefix("active frozen"))
                try expectStill(counter, group: group)

                #expect(try order("system \(thaw) frozen.service") == "done")
                try counter.waitForMore()
                #expect(try order("system \(thaw) frozen.service") == "done")
            }
        }

        @Test(
            "a user's scope is frozen and thawed by root, and by the user",
            arguments: [true, false])
        func userScope(byRoot: Bool) throws {
            try BoxUser.linger()
            defer { try? BoxUser.stop() }
            let counter = Counter(unit: "frozen.scope")
            // Out of a service of the user's, since a user may not move what is in another's group.
            try Installation.succeed(
                BoxUser.shell(
                    """
                    systemd-run --user --quiet --unit=maker systemd-run --user --scope \
                        --unit=\(counter.unit) sh -c '\(counter.script)'
                    """))
            try counter.waitForMore()
            func order(_ verb: String) throws -> String {
                let words = "\(byRoot ? "\(BoxUser.uid)" : "user") \(verb) \(counter.unit)"
                return byRoot
                    ? try self.order(words) : try BoxUser.shell("\(Self.probe) \(words)").line
            }
            let described = try order("describe").split(separator: " ")
            try #require(described.count == 5, "\(described)")
            #expect(described[0...2] == ["active", "running", "true"])
            let group = String(described[3])
            #expect(group.hasSuffix("/user@\(BoxUser.uid).service/app.slice/frozen.scope"))
            for thaw in ["thaw", "thaw-at-start"] {
                #expect(try order("freeze") == "done")
                try expectStill(counter, group: group)
                #expect(try order(thaw) == "done")
                try counter.waitForMore()
            }
        }

        @Test("a unit with WatchdogSec= is described as such")
        func watchdog() throws {
            let counter = Counter(unit: "watched.service")
            try Self.start(counter, "--property=WatchdogSec=300s")
            defer { _ = try? Box.execRaw("systemctl", "stop", counter.unit) }
            #expect(
                try order("system describe watched.service")
                    == "active running true /system.slice/watched.service 300000000\ndone")
        }

        @Test("a unit that does not exist, or cannot be frozen, is refused in the manager's words")
        func refusals() throws {
            let missing = "org.freedesktop.systemd1.NoSuchUnit: Unit no.service not loaded."
            #expect(
                try order("system freeze no.service")
                    == "failed: FreezeUnit of no.service: \(missing)")
            #expect(
                try order("system describe no.service")
                    == "failed: GetUnit of no.service: \(missing)")
            #expect(try order("system thaw no.service") == "done")
            #expect(
                try order("system freeze dbus.socket").hasSuffix("does not support freezing."))
            #expect(try order("system freeze ''").hasSuffix("this cannot be the name of a unit"))
        }

        @Test("what the policy refuses to an ordinary user is said in the bus's words")
        func policy() throws {
            try BoxUser.linger()
            defer { try? BoxUser.stop() }
            let refused = try BoxUser.shell("\(Self.probe) system freeze \(Self.other.unit)").line
            #expect(
                refused.hasPrefix(
                    "failed: FreezeUnit of \(Self.other.unit): org.freedesktop.DBus.Error.AccessDenied:"
                ), "\(refused)")
            try Self.other.waitForMore()
        }

        @Test("a signal reaches all processes of a unit")
        func signal() throws {
            let counter = Counter(unit: "told.service")
            try Self.start(counter)
            #expect(try order("system kill told.service") == "done")
            try Box.wait(for: "inactive", from: "systemctl", "is-active", counter.unit)
        }

        @Test("thawing a unit that was killed while it was frozen is a success")
        func killed() throws {
            let counter = Counter(unit: "killed.service")
            try Installation.succeed(
                Installation.shell(
                    """
                    systemctl reset-failed killed.service 2>/dev/null
                    systemd-run --quiet --unit=killed.service sh -c '\(counter.script)'
                    """))
            defer { _ = try? Box.execRaw("systemctl", "reset-failed", counter.unit) }
            #expect(try order("system freeze killed.service") == "done")
            _ = try Box.execRaw("systemctl", "kill", "-s", "KILL", counter.unit)
            try Box.wait(for: "failed", from: "systemctl", "is-active", counter.unit)
            // systemd 252 keeps to the state, and refuses to thaw what is not active.
            #expect(try order("system describe killed.service").hasPrefix("failed frozen"))
            #expect(try order("system thaw killed.service") == "done")
            #expect(try order("system thaw-at-start killed.service") == "done")
        }

        @Test("a user cannot turn root's orders to the system's manager")
        func misdirected() throws {
            try BoxUser.linger()
            defer { try? BoxUser.stop() }
            try Installation.succeed(
                BoxUser.shell("ln -sf /run/systemd/private $XDG_RUNTIME_DIR/systemd/private"))
            let refused = try order("\(BoxUser.uid) freeze \(Self.other.unit)")
            #expect(
                refused.contains("belongs to user 0 and not to user \(BoxUser.uid)"), "\(refused)")
            try Self.other.waitForMore()
        }

        @Test("a manager that stands still costs the limit, and says so")
        func stopped() throws {
            try BoxUser.linger()
            defer { try? BoxUser.stop() }
            let manager = "user@\(BoxUser.uid).service"
            _ = try Box.execRaw("systemctl", "kill", "--kill-who=main", "-s", "STOP", manager)
            defer {
                _ = try? Box.execRaw("systemctl", "kill", "--kill-who=main", "-s", "CONT", manager)
            }
            for verb in ["freeze", "thaw-at-start"] {
                #expect(
                    try order("\(BoxUser.uid) \(verb) a.service")
                        .hasSuffix("the service manager did not answer within 5.0 seconds"))
            }
        }
    }
}
