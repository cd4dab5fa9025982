import Foundation
import TestKit

/// The units of `systemd/` in the box, with the programs of this build in them.
enum InstalledUnits {
    enum Scope: String, CaseIterable {
        case system, user
    }

    /// Where `make install` puts the programs if nobody asks for another place.
    private static let programs = ["/usr/local/bin/", "/usr/local/libexec/bgtaskd/"]

    /// The daemon, and what runs its commands.
    private static let all = ["bgtaskd", "bgtask-executor"].flatMap {
        ["\($0).socket", "\($0).service"]
    }
    private static let stop = "systemctl stop \(all.joined(separator: " "))"
    private static let reset = "systemctl reset-failed \(all.joined(separator: " "))"

    /// Makes the system's bgtaskd.socket listen for a daemon that does not run yet.
    ///
    /// One that runs is stopped, with what runs its commands. Its state in /var/lib/bgtaskd stays.
    ///
    /// - Parameters:
    ///   - dropIn: more settings for bgtaskd.service, in a file of their own behind it.
    ///   - executorDropIn: the same for bgtask-executor.service.
    static func start(dropIn: String? = nil, executorDropIn: String? = nil) throws {
        _ = try Box.execRaw("sh", "-c", stop)
        try Box.forgetJournal()
        try put(.system, dropIn: dropIn, executorDropIn: executorDropIn)
        _ = try Box.execRaw("sh", "-c", reset)
        let started = try Box.execRaw("systemctl", "start", "bgtaskd.socket")
        guard started.status == 0 else { throw Box.Failed(description: started.errors) }
    }

    /// Writes the units of one scope, and has the system's manager read them.
    ///
    /// - Parameters:
    ///   - dropIn: more settings for bgtaskd.service; those of an earlier call are gone.
    ///   - executorDropIn: the same for bgtask-executor.service.
    static func put(
        _ scope: Scope, dropIn: String? = nil, executorDropIn: String? = nil
    ) throws {
        let folder = "/etc/systemd/\(scope.rawValue)"
        for name in try names(scope) {
            try Box.write(text(of: name, scope), to: "\(folder)/\(name)")
        }
        try Box.write(dropIn ?? "", to: "\(folder)/bgtaskd.service.d/test.conf")
        try Box.write(executorDropIn ?? "", to: "\(folder)/bgtask-executor.service.d/test.conf")
        if scope == .system { try Box.reloadUnits() }
    }

    private static func names(_ scope: Scope) throws -> [String] {
        let folder = Box.project.appendingPathComponent("systemd/\(scope.rawValue)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasPrefix("bgtaskd.") || $0.hasPrefix("bgtask-executor.") }
    }

    /// A unit as it is in `systemd/`, but with the programs of this build.
    static func text(of name: String, _ scope: Scope) throws -> String {
        let file = Box.project.appendingPathComponent("systemd/\(scope.rawValue)/\(name)")
        return try programs.reduce(String(contentsOf: file, encoding: .utf8)) {
            $0.replacingOccurrences(of: $1, with: Programs.folder + "/")
        }
    }

    /// Takes all of this away again, with the state of the system's daemon.
    static func remove() throws {
        let script = """
            \(stop) bgtaskd.slice 2>/dev/null
            cd /etc/systemd && rm -rf system/bgtaskd.* user/bgtaskd.* system/bgtask-executor.* user/bgtask-executor.*
            rm -rf /var/lib/bgtaskd /var/lib/bgtask-executor
            systemctl daemon-reload
            \(reset) 2>/dev/null
            rmdir /run/bgtaskd /run/bgtask-executor /run/varlink/registry /run/varlink 2>/dev/null
            true
            """
        let removed = try Box.execRaw("sh", "-c", script)
        guard removed.status == 0 else { throw Box.Failed(description: removed.errors) }
    }
}
