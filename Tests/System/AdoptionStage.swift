import TestKit
import Testing

/// A daemon in the box, a unit that counts, and who has the one adopt the other.
///
/// The unit's file grows by a byte a turn, which is read from outside: what it says itself proves nothing.
enum AdoptionStage: String, CaseIterable, CustomTestStringConvertible {
    case systemService, serviceOfUser, userScope, ownDaemon

    var testDescription: String {
        switch self {
        case .systemService: "root's service, by the system's daemon"
        case .serviceOfUser: "a user's process in a service of the system, by the system's daemon"
        case .userScope: "a user's scope, by the system's daemon"
        case .ownDaemon: "a user's scope, by the user's own daemon"
        }
    }

    static let application = "counter"
    private static let folder = "/run/count"
    private static let settings = "applications.suspendAfter = '100ms'"
    /// What counts on beside all of them, so that standing still can be told from being slow.
    private static let other = "other.service"

    /// The unit that is adopted.
    var unit: String {
        switch self {
        case .systemService, .serviceOfUser: "counter.service"
        case .userScope, .ownDaemon: "counter.scope"
        }
    }

    /// Whether the application is an ordinary user's.
    var hasUser: Bool { self != .systemService }

    var hasUserManager: Bool { unit.hasSuffix(".scope") }

    // MARK: - Beginning and end

    /// Starts a daemon that never ran, and the counters.
    func begin() throws {
        try InstalledUnits.remove()
        if hasUser { try BoxUser.linger() }
        try Installation.succeed(
            Installation.shell(
                "rm -rf \(Self.folder) && mkdir -m 1777 \(Self.folder); systemctl stop counter.service"
                    + " \(Self.other) 2>/dev/null; systemctl reset-failed; true"))
        try Service.set(Self.settings)
        if self == .ownDaemon {
            try InstalledUnits.put(.user)
            try Installation.succeed(
                BoxUser.shell(
                    "mkdir -p ~/.config/bgtaskd && echo \"\(Self.settings)\" >~/.config/bgtaskd/bgtaskd.toml"
                        + " && systemctl --user daemon-reload && systemctl --user start bgtaskd.socket"
                ))
        } else {
            try InstalledUnits.start()
        }
        try Self.startService(Self.other, "")
        try startCounter()
    }

    /// Leaves nothing of it in the box.
    func end() throws {
        try InstalledUnits.remove()
        try Service.set(nil)
        if hasUser { try BoxUser.stop() }
        try Installation.succeed(
            Installation.shell("systemctl stop counter.service \(Self.other) 2>/dev/null; true"))
    }

    /// Starts the unit that counts.
    func startCounter() throws {
        switch self {
        case .systemService: try Self.startService(unit, "")
        case .serviceOfUser: try Self.startService(unit, "--uid=\(BoxUser.uid)")
        case .userScope, .ownDaemon:
            // Out of a service of the user's, since a user may not move what is in another's group.
            try Installation.succeed(
                BoxUser.shell(
                    "systemctl --user reset-failed; systemd-run --user --quiet --collect systemd-run --user"
                        + " --scope --unit=\(unit) sh -c '\(Self.script(unit))'"))
        }
        try Self.waitForMore(unit)
    }

    private static func startService(_ unit: String, _ options: String) throws {
        try Installation.succeed(
            Installation.shell(
                "systemd-run --quiet --collect --unit=\(unit) \(options) sh -c '\(script(unit))'"))
        try waitForMore(unit)
    }

    private static func file(_ unit: String) -> String { "\(folder)/\(unit)" }

    private static func script(_ unit: String) -> String {
        BoxScript.count(in: file(unit))
    }

    // MARK: - Orders

    /// Calls the daemon as the application's owner; `arguments` are words of the shell.
    func call(_ arguments: String) throws -> Box.Result {
        try shell("\(program) \(arguments)")
    }

    /// Runs a script as the application's owner.
    func shell(_ script: String) throws -> Box.Result {
        hasUser ? try BoxUser.shell(script) : try Installation.shell(script)
    }

    private var program: String {
        "\(Programs.path("bgtaskctl")) \(self == .ownDaemon ? "--user" : "--system")"
    }

    /// Adopts the counter.
    func adopt() throws {
        let processID = try processID()
        let adopted = try call("app adopt \(Self.application) \(processID)")
        try #require(adopted.status == 0, "\(adopted)")
        try #require(adopted.line == "\(Self.application) is active")
    }

    /// Sends the application to the background, and waits until the daemon says that it is suspended.
    func suspend() throws {
        try Installation.succeed(call("app background \(Self.application)"))
        try wait(for: #""state":"suspended""#)
    }

    /// The application as the daemon tells it, in JSON.
    func show() throws -> String {
        let shown = try call("app show --json \(Self.application)")
        try #require(shown.status == 0, "\(shown)")
        return shown.line
    }

    /// Waits until the daemon tells this of the application.
    func wait(for text: String) throws {
        let show = "\(program) app show --json \(Self.application)"
        let found = try shell("until \(show) | grep -qF '\(text)'; do sleep 0.05; done")
        let shown = try self.show()
        try #require(found.status == 0, "it never said \(text), but \(shown)")
    }

    /// Writes what the application is told into a file, from here on.
    func watch() throws {
        let events = Self.file("events")
        let user = hasUser ? BoxUser.uid : 0
        try Installation.succeed(
            Installation.shell(
                """
                systemd-run --quiet --collect --unit=watcher --uid=\(user) \
                    --setenv=XDG_RUNTIME_DIR=/run/user/\(user) \
                    sh -c '\(program) app watch --json \(Self.application) >\(events)' &&
                until [ -s \(events) ]; do sleep 0.05; done
                """))
    }

    /// Waits for an event in that file.
    func event(_ callback: String) throws -> String {
        let found = try Installation.shell(
            "until grep '\"callback\":\"\(callback)\"' \(Self.file("events")); do sleep 0.05; done")
        return found.line
    }

    /// Waits until so many events in that file have this in them.
    func waitForEvents(_ count: Int, _ text: String) throws {
        try Box.wait(for: "\(count)", from: "grep", "-cF", text, Self.file("events"))
    }

    // MARK: - What is really so

    func processID() throws -> Int {
        let found = try Installation.shell("head -n 1 \(group())/cgroup.procs").line
        return try #require(Int(found))
    }

    /// The folder of the unit's group.
    func group() throws -> String {
        let show = "systemctl \(hasUserManager ? "--user " : "")show -P ControlGroup \(unit)"
        let group = hasUserManager ? try BoxUser.shell(show) : try Installation.shell(show)
        try #require(group.line.hasSuffix(unit), "\(group)")
        return "/sys/fs/cgroup" + group.line
    }

    /// Whether the unit is frozen, as its manager tells it.
    func freezerState() throws -> String {
        let show = "systemctl \(hasUserManager ? "--user " : "")show -P FreezerState \(unit)"
        return (hasUserManager ? try BoxUser.shell(show) : try Installation.shell(show)).line
    }

    /// While the other counts on, this one does not; and all who should know say so.
    func expectFrozen() throws {
        let before = try Self.size(unit)
        try Self.waitForMore(Self.other)
        #expect(try Self.size(unit) == before)
        #expect(try freezerState() == "frozen")
        #expect(try Installation.shell("cat \(group())/cgroup.events").output.contains("frozen 1"))
        let shown = try show()
        #expect(shown.contains(#""frozen":true"#), "\(shown)")
        #expect(shown.contains(#""freezer":"unit","units":["\#(unit)"]"#), "\(shown)")
    }

    /// It goes on, and all who should know say so.
    func expectCounting() throws {
        try Self.waitForMore(unit)
        #expect(try freezerState() == "running")
        #expect(try Installation.shell("cat \(group())/cgroup.events").output.contains("frozen 0"))
    }

    private static func size(_ unit: String) throws -> Int {
        try #require(Int(Installation.shell("stat -c %s \(file(unit))").line))
    }

    private static func waitForMore(_ unit: String) throws {
        // A unit that has just been started may have no file yet.
        let size = "$(stat -c %s \(file(unit)) 2>/dev/null || echo 0)"
        let before = try #require(Int(Installation.shell("echo \(size)").line))
        try Installation.succeed(
            Installation.shell("until [ \"\(size)\" -gt \(before + 10) ]; do sleep 0.05; done"))
    }
}
