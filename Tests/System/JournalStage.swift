import Foundation
import TestKit
import Testing

/// bgtaskd as a service of the box, and its journal, for the tests of both.
enum JournalStage {
    private static func service(scope: String) -> String {
        """
        [Service]
        Type=notify
        ExecStart=\(Programs.path("bgtaskd")) --\(scope) --config /etc/bgtaskd-journal.toml
        Delegate=yes
        KillMode=mixed
        StateDirectory=bgtaskd
        LogRateLimitIntervalSec=0
        """
    }

    /// Starts a daemon with these settings; one that runs is stopped.
    static func start(settings: String = "") throws {
        _ = try Box.execRaw("systemctl", "stop", "bgtaskd.service", "bgtaskd.socket")
        _ = try Box.execRaw("systemctl", "reset-failed")
        // What other suites added to the units.
        _ = try shell(
            "rm -rf /etc/systemd/system/bgtaskd.service.d /etc/systemd/user/bgtaskd.service.d")
        try Box.forgetJournal()
        try write(settings, to: "/etc/bgtaskd-journal.toml")
        try Box.install(unit: "bgtaskd.service", service(scope: "system"))
        let started = try Box.execRaw("systemctl", "start", "bgtaskd.service")
        try #require(started.status == 0, "\(started.errors)")
    }

    /// Starts a daemon of a user's own, who lingers.
    static func start(ofUser name: String) throws {
        try Box.forgetJournal()
        try write("", to: "/etc/bgtaskd-journal.toml")
        try write(service(scope: "user"), to: "/etc/systemd/user/bgtaskd.service")
        for command in [
            ["loginctl", "enable-linger", name],
            ["systemctl", "--user", "-M", "\(name)@", "daemon-reload"],
            ["systemctl", "--user", "-M", "\(name)@", "restart", "bgtaskd.service"],
        ] {
            let result = try shell("exec \"$@\"", command)
            try #require(result.status == 0, "\(command): \(result.errors)")
        }
    }

    /// Makes a user of the box, with a home and a group of the same name.
    static func makeUser(_ name: String, _ number: Int) throws {
        let made = try shell(
            "id \(name) 2>/dev/null || useradd --create-home --uid \(number) --user-group \(name)")
        try #require(made.status == 0, "\(made.errors)")
    }

    static func write(_ text: String, to path: String) throws {
        let written = try shell("printf %s \"$1\" >\"$2\"", [text, path])
        try #require(written.status == 0, "\(written.errors)")
    }

    /// Runs a script in the box, as root.
    static func shell(_ script: String, _ arguments: [String] = []) throws -> Box.Result {
        // The names that scripts use.
        let names = "ctl() { \(Programs.path("bgtaskctl")) --system \"$@\"; }\n"
        return try Box.execRaw(list: ["sh", "-c", names + script, "sh"] + arguments)
    }

    /// Runs a command of the shell as a user who is in no group but their own.
    static func shell(_ script: String, as user: Int, groups: String = "") throws -> Box.Result {
        let identity =
            "setpriv --reuid=\(user) --regid=\(user) "
            + (groups.isEmpty ? "--clear-groups" : "--groups=\(groups)")
        return try shell("\(identity) sh -c \"$1\"", [script])
    }

    /// Runs a command as a task and waits for its end.
    ///
    /// - Returns: the number of the task.
    static func run(_ command: String, _ options: String = "") throws -> String {
        let run = try shell("ctl run --wait \(options) -- \(command)")
        try #require(run.output.first?.isNumber == true, "\(run.errors)")
        return String(run.output.prefix { $0.isNumber })
    }

    /// What the journal has, once all that was written by now is in it.
    static func journalctl(_ arguments: String...) throws -> String {
        _ = try Box.execRaw("journalctl", "--sync")
        return try Box.execRaw(list: ["journalctl", "--quiet", "--no-pager"] + arguments).output
    }

    /// What the journal has, as objects.
    static func entries(_ matches: String...) throws -> [[String: Any]] {
        _ = try Box.execRaw("journalctl", "--sync")
        let found = try Box.execRaw(
            list: ["journalctl", "--quiet", "--all", "--output=json"] + matches)
        return try found.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    /// Waits until the daemon, which is a user's, has written the end of a task.
    static func waitForEnd(of task: String, user: Int = 0) throws {
        try Box.wait(
            for: "1", from: "sh", "-c",
            "journalctl --sync; journalctl -q -o cat _UID=\(user) BGTASK_ID=\(task) BGTASK_STATE=ended | wc -l"
        )
    }
}
