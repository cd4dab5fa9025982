import Foundation
import TestKit

/// The system's bgtaskd.service in the box, as `InstalledUnits` put it there.
enum Service {
    static let name = "bgtaskd.service"

    /// Calls the daemon with bgtaskctl; `arguments` are words of the shell.
    static func call(_ arguments: String) throws -> Box.Result {
        try Box.execRaw("sh", "-c", "\(Programs.path("bgtaskctl")) --system \(arguments)")
    }

    static func property(_ property: String) throws -> String {
        try Box.execRaw("systemctl", "show", "-P", property, name).line
    }

    /// Waits until systemd says so of the service, or of a part of it that `filter` takes from it.
    static func wait(for expected: String, of property: String, through filter: String = "cat")
        throws
    {
        try Box.wait(
            for: expected, from: "sh", "-c", "systemctl show -P \(property) \(name) | \(filter)")
    }

    /// Puts settings into force at the next start or reload; `nil` takes them away.
    static func set(_ settings: String?) throws {
        try Box.write(settings ?? "", to: settingsFile)
    }

    /// Between the other files of the folder.
    static let settingsFile = "/etc/bgtaskd/bgtaskd.toml.d/50-test.toml"

    /// How many journal entries of one run of the service have these fields.
    static func entries(of invocation: String, _ fields: String) throws -> Int? {
        let show = "journalctl -q -o json _SYSTEMD_INVOCATION_ID=\(invocation) \(fields)"
        return Int(try Box.execRaw("sh", "-c", "journalctl --sync; \(show) | wc -l").line)
    }
}
