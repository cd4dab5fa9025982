import Foundation
import TestKit
import Testing

extension SystemTests {
    /// What a service that systemd confines has of the system's daemon.
    @Suite("A confined service beside bgtaskd")
    struct ConfinedServiceTests {
        init() throws {
            try InstalledUnits.start()
            try Installation.succeed(
                Installation.shell(
                    """
                    id \(BoxUser.name) >/dev/null 2>&1 ||
                        useradd --create-home --uid \(BoxUser.uid) --shell /bin/sh \(BoxUser.name)
                    """))
        }

        /// Runs a command as a service of the user's, with these settings of systemd.exec(5).
        private func service(_ settings: [String], _ command: String) throws -> Box.Result {
            let options = settings.map { "-p \($0)" }.joined(separator: " ")
            return try Installation.shell(
                """
                systemd-run --quiet --wait --pipe --collect --uid=\(BoxUser.name) \(options) \
                    \(Programs.path("bgtaskctl")) --system \(command)
                """)
        }

        @Test(
            "has nothing run that is outside of its sandbox",
            arguments: [
                ["NoNewPrivileges=yes"], ["PrivateNetwork=yes"], ["ProtectSystem=strict"],
                ["PrivateUsers=yes"], ["SystemCallFilter=@system-service"],
                ["CapabilityBoundingSet="],
                [
                    "NoNewPrivileges=yes", "ProtectHome=read-only", "ProtectSystem=full",
                    "PrivateNetwork=yes", "RestrictNamespaces=yes",
                    "SystemCallFilter=@system-service",
                ],
            ])
        func escape(settings: [String]) throws {
            let mark = "/home/\(BoxUser.name)/escaped"
            let run = try service(settings, "run --wait -- touch \(mark)")
            #expect(run.status == 125, "\(settings): \(run)")
            #expect(run.errors.contains("access.confinedUsers"), "\(run)")
            #expect(try Installation.shell("test -e \(mark)").status == 1)
            #expect(try service(settings, "hold -- true").status == 0)
        }

        @Test("is served where nothing confines it, and so is what a task of the daemon's submits")
        func free() throws {
            let run = try service([], "run --follow -- echo fine")
            #expect(run.output.contains("fine"), "\(run)")
            // The unit's own filter is that of its tasks too.
            let nested = try service(
                [],
                "run --follow -- \(Programs.path("bgtaskctl")) --system run --follow -- echo nested"
            )
            #expect(nested.output.contains("nested"), "\(nested)")
        }

        @Test(
            "a member who is taken out of a group loses it with what is queued, an expired one all")
        func accounts() throws {
            let shell = """
                groupadd --force secretgrp && gpasswd --add \(BoxUser.name) secretgrp &&
                id=$(setpriv --reuid=\(BoxUser.uid) --regid=\(BoxUser.uid) --init-groups \
                    \(Programs.path("bgtaskctl")) --system run --in 8s -- id -Gn | head -1) &&
                gpasswd --delete \(BoxUser.name) secretgrp && systemctl restart bgtaskd.service &&
                \(Programs.path("bgtaskctl")) --system wait --all $id &&
                \(Programs.path("bgtaskctl")) --system logs --all $id
                """
            let run = try Installation.shell(shell)
            #expect(run.output.contains("\(BoxUser.name)\n"), "\(run)")
            #expect(!run.output.contains("\(BoxUser.name) secretgrp"), "\(run)")
            let expired = try Installation.shell(
                """
                chage --expiredate 1 \(BoxUser.name) && systemctl restart bgtaskd.service
                setpriv --reuid=\(BoxUser.uid) --regid=\(BoxUser.uid) --init-groups \
                    \(Programs.path("bgtaskctl")) --system run --wait -- true
                chage --expiredate -1 \(BoxUser.name)
                """)
            #expect(expired.errors.contains("has expired"), "\(expired)")
        }
    }
}
