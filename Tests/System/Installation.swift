import Foundation
import TestKit
import Testing

/// `make install` and its like in the box, with the programs of this build in place of a release's.
enum Installation {
    /// The folder of the programs, as `make build` would leave it.
    static let programs = "/root/programs"

    /// Leaves nothing of bgtaskd in the box but programs to install.
    static func prepare() throws {
        try InstalledUnits.remove()
        try succeed(make("uninstall"))
        // An earlier test's folders would not be missed by a later one.
        try succeed(
            shell(
                """
                find /usr/local /etc/fish /etc/systemd /etc/needrestart -depth -type d -empty -delete 2>/dev/null
                mkdir -p /usr/local/bin /usr/local/lib /usr/local/share/man
                rm -rf \(programs) && mkdir \(programs) && cd \(Programs.folder) &&
                for program in bgtaskd bgtaskctl bgtask-executor; do
                    ln -s "$PWD"/$program \(programs) && touch \(programs)/$program.debug || exit
                done
                touch \(programs)/swift-backtrace
                """))
        try succeed(make("completions"))
    }

    /// Runs make in the project's folder.
    ///
    /// - Parameter wrapper: a command of the shell that runs it.
    static func make(_ arguments: String, within wrapper: String = "") throws -> Box.Result {
        let make = "make --silent -C '\(Box.project.path)' BUILD=\(programs) \(arguments)"
        return try shell("umask 077; \(wrapper) \(make)")
    }

    /// Installs, or fails.
    static func install() throws {
        try succeed(make("install"))
    }

    /// Puts a daemon into `programs` that is another file than before, and behaves alike.
    static func makeNewVersion() throws {
        try succeed(
            shell(
                """
                cd \(programs) && rm bgtaskd && cp \(Programs.path("bgtaskd")) . && echo new >>bgtaskd
                """))
    }

    static func shell(_ script: String) throws -> Box.Result {
        try Box.execRaw("sh", "-c", script)
    }

    static func property(_ name: String, of unit: String = "bgtaskd.service") throws -> String {
        try Box.execRaw("systemctl", "show", "-P", name, unit).line
    }

    static func succeed(_ result: Box.Result) throws {
        try #require(result.status == 0, "\(result)")
    }

    /// Every file and folder that a service could leave something in, with its mode and where it leads.
    ///
    /// Left out is what systemd notes about whatever runs.
    static func listing() throws -> Set<String> {
        let found = try shell(
            """
            find /etc /usr/local /usr/lib/systemd /var /run /root /home -xdev \
                \\( -path /var/log/journal -o -path /run/log -o -path /run/systemd \
                -o -path /root/.cache -o -path '/root/.*/*/*/*' -o -path \(programs) \\) -prune \
                -o -printf '%p %m %l\\n'
            """)
        try succeed(found)
        return Set(found.output.split(separator: "\n").map(String.init))
    }
}
