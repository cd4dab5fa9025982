import Foundation
import TestKit
import Testing

/// A command that outlives its daemon, and what is asked of both.
enum OutlivingStage {
    static let executor = "bgtask-executor.service"
    /// Where the command leaves its marks.
    static let folder = "/run/outliving"

    /// Says its process and a line, waits for a file, says another line and ends with 7.
    static let script = """
        echo $$ >\(folder)/process; echo before
        until [ -e \(folder)/go ]; do sleep 0.05; done
        echo after; exit 7
        """

    /// The same, and goes on until it is told to end, of which it leaves a mark.
    static let obedientScript = """
        trap 'touch \(folder)/told; exit 3' TERM
        echo $$ >\(folder)/process; echo before
        while :; do sleep 0.05; done
        """

    /// Starts a daemon that never ran.
    static func begin(dropIn: String? = nil, executorDropIn: String? = nil) throws {
        try InstalledUnits.remove()
        try InstalledUnits.start(dropIn: dropIn, executorDropIn: executorDropIn)
        try Installation.succeed(
            Installation.shell("rm -rf \(folder) && mkdir -m 1777 \(folder)"))
    }

    /// Submits a command, and waits until it has left its mark.
    ///
    /// - Returns: its number.
    static func run(_ script: String = script, _ options: String = "--budget 600s") throws -> String
    {
        try Box.write(script, to: "\(folder)/script")
        let run = try Service.call("run \(options) -- sh \(folder)/script")
        try #require(run.status == 0, "\(run)")
        try Installation.succeed(
            Installation.shell("until [ -s \(folder)/process ]; do sleep 0.05; done"))
        // What it has printed is read by then.
        try Installation.succeed(
            Installation.shell(
                "until \(Programs.path("bgtaskctl")) --system logs \(run.line) | grep -q before; do sleep 0.05; done"
            ))
        return run.line
    }

    /// Whether the command's process is there.
    static func isAlive() throws -> Bool {
        try Installation.shell("kill -0 $(cat \(folder)/process)").status == 0
    }

    static func waitForMark(_ name: String) throws {
        try Installation.succeed(
            Installation.shell("until [ -e \(folder)/\(name) ]; do sleep 0.05; done"))
    }

    /// Waits until no process of the command is left.
    static func waitForEnd() throws {
        try Installation.succeed(
            Installation.shell(
                "while kill -0 $(cat \(folder)/process) 2>/dev/null; do sleep 0.05; done"))
    }

    /// Lets the command end, and waits until the daemon has told its end.
    static func letGo(_ task: String) throws {
        try Installation.succeed(Box.execRaw("touch", "\(folder)/go"))
        #expect(try Service.call("wait \(task)").status == 7)
        #expect(try outcome(of: task) == "failed")
    }

    static func outcome(of task: String) throws -> String {
        let shown = try Service.call("show --json \(task)")
        let found = shown.output.firstMatch(of: /"outcome":"([a-z]*)"/)
        return found.map { String($0.1) } ?? "none: \(shown)"
    }

    static func process(of unit: String) throws -> String {
        try Installation.property("MainPID", of: unit)
    }

    /// Kills the daemon, and waits for the next one.
    static func killDaemon() throws {
        let property = try Service.property("NRestarts")
        let restarts = try #require(Int(property))
        try Installation.succeed(
            Box.execRaw("systemctl", "kill", "--kill-who=main", "-s", "KILL", Service.name))
        try Service.wait(for: "\(restarts + 1)", of: "NRestarts")
        try Service.wait(for: "active", of: "ActiveState")
    }

    /// How often the daemons have written a message of `DaemonMessage`, once that has come: their journal has a thread.
    static func countOnceTold(_ message: String) throws -> Int {
        let id = try identifier(of: message)
        let show = "journalctl -q -o cat -n 1 _SYSTEMD_UNIT=\(Service.name) MESSAGE_ID=\(id)"
        try Box.wait(for: "1", from: "sh", "-c", "journalctl --sync; \(show) | wc -l")
        return try count(of: message)
    }

    /// How often the daemons have written a message of `DaemonMessage`.
    static func count(of message: String) throws -> Int {
        let show =
            "journalctl -q -o cat _SYSTEMD_UNIT=\(Service.name) MESSAGE_ID=\(try identifier(of: message))"
        let count = try Installation.shell("journalctl --sync; \(show) | wc -l").line
        return try #require(Int(count))
    }

    /// The id of a message, as the source has it.
    private static func identifier(of message: String) throws -> String {
        let sources = Box.project.appendingPathComponent("Sources/DaemonShell/Logging")
        for file in try FileManager.default.contentsOfDirectory(atPath: sources.path) {
            let text = try String(
                contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
            let pattern = try Regex(
                "static let \(message) = DaemonMessage\\(\\s*\"([0-9a-f]{32})\"")
            if let found = text.firstMatch(of: pattern), let id = found.output[1].substring {
                return String(id)
            }
        }
        throw Box.Failed(description: "there is no message \(message)")
    }
}
