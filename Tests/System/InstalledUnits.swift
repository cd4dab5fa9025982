import Foundation
import TestKit

/// The units of `systemd/` in the box, with the programs of this build in them.
enum InstalledUnits {
    enum Scope: String, CaseIterable {
        case system, user
    }

    /// Where `make install` puts the programs if nobody asks for another place.
    private static let programs = "/usr/local/bin"

    /// Makes the system's bgtaskd.socket listen for a daemon that does not run yet.
    ///
    /// One that runs is stopped. Its state in /var/lib/bgtaskd stays.
    ///
    /// - Parameter dropIn: more settings for bgtaskd.service, in a file of their own behind it.
    static func start(dropIn: String? = nil) throws {
        _ = try Box.execRaw("systemctl", "stop", "bgtaskd.socket", "bgtaskd.service")
        try Box.forgetJournal()
        try put(.system, dropIn: dropIn)
        _ = try Box.execRaw("systemctl", "reset-failed", "bgtaskd.socket", "bgtaskd.service")
        let started = try Box.execRaw("systemctl", "start", "bgtaskd.socket")
        guard started.status == 0 else { throw Box.Failed(description: started.errors) }
    }

    /// Writes the units of one scope, and has the system's manager read them.
    ///
    /// - Parameter dropIn: more settings for bgtaskd.service; those of an earlier call are gone.
    static func put(_ scope: Scope, dropIn: String? = nil) throws {
        let folder = "/etc/systemd/\(scope.rawValue)"
        for name in try names(scope) {
            try Box.write(text(of: name, scope), to: "\(folder)/\(name)")
        }
        try Box.write(dropIn ?? "", to: "\(folder)/bgtaskd.service.d/test.conf")
        if scope == .system { try Box.reloadUnits() }
    }

    private static func names(_ scope: Scope) throws -> [String] {
        let folder = Box.project.appendingPathComponent("systemd/\(scope.rawValue)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasPrefix("bgtaskd.") }
    }

    /// A unit as it is in `systemd/`, but with the programs of this build.
    static func text(of name: String, _ scope: Scope) throws -> String {
        let file = Box.project.appendingPathComponent("systemd/\(scope.rawValue)/\(name)")
        return try String(contentsOf: file, encoding: .utf8)
            .replacingOccurrences(of: programs + "/", with: Programs.folder + "/")
    }

    /// Takes all of this away again, with the state of the system's daemon.
    static func remove() throws {
        let script = """
            systemctl stop bgtaskd.socket bgtaskd.service bgtaskd.slice 2>/dev/null
            rm -rf /etc/systemd/system/bgtaskd.* /etc/systemd/user/bgtaskd.* /var/lib/bgtaskd
            systemctl daemon-reload
            systemctl reset-failed bgtaskd.socket bgtaskd.service 2>/dev/null
            rmdir /run/bgtaskd /run/varlink/registry /run/varlink 2>/dev/null
            true
            """
        let removed = try Box.execRaw("sh", "-c", script)
        guard removed.status == 0 else { throw Box.Failed(description: removed.errors) }
    }
}
