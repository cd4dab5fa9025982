import Foundation
import TestKit
import Testing

/// What systemd makes of IPAddressDeny= and its like, in a box of its own: the other one has no bpf(2).
@Suite("A service with filters in its control group, under a systemd of its own")
struct GroupFilterTests {
    /// What a script says that runs in a box with bgtaskd and a user mallory.
    private func box(_ script: String) throws -> Box.Result {
        let prepared = """
            make --silent -C '\(Box.project.path)' BUILD='\(Programs.folder)' install >/dev/null &&
            useradd --create-home --shell /bin/sh mallory || exit 9
            service() { systemd-run --quiet --wait --pipe --collect --uid=mallory "$@" 2>&1; }

            """
        return try Box.run(
            "own-box",
            [
                "group-filters", "/", "--full", "--timeout", "180", "--bind-ro", Box.project.path,
                "--bind-ro", Programs.folder, "--bind-ro", Programs.buildFolder,
                "--", Box.project.path + "/Tests/System/systemd-box",
                "exec", "--raw", "--", "timeout", "180", "sh", "-c", prepared + script,
            ], [:])
    }

    @Test("has nothing run that is not filtered, and counting packets is no filter")
    func filters() throws {
        if let reason = Box.reasonAgainst { try Test.cancel(Comment(rawValue: reason)) }
        let kinds = ["IPAddressDeny=any": "packets", "DevicePolicy=closed": "devices"]
        let settings = kinds.keys.sorted()
        let run = try box(
            """
            for setting in \(settings.joined(separator: " ")); do
                echo "$setting: $(service -p $setting bgtaskctl run --wait -- touch /home/mallory/escaped)"
                service -p $setting bgtaskctl hold -- echo held
            done
            service bgtaskctl run --follow --quiet -- bgtaskctl run --follow --quiet -- echo nested
            systemctl set-property --runtime bgtask-executor.service IPAccounting=yes
            service -p IPAccounting=yes bgtaskctl run --follow --quiet -- echo counted
            systemctl set-property --runtime bgtask-executor.service IPAddressDeny=any IPAccounting=no
            service bgtaskctl run --follow --quiet -- echo narrower
            test -e /home/mallory/escaped && echo escaped
            exit 0
            """)
        #expect(run.status == 0, "\(run)")
        let refused = settings.flatMap { setting in
            [
                "\(setting): bgtaskctl: bgtaskd starts nothing for you from here: the caller has "
                    + "a filter of its control group (\(kinds[setting] ?? "")), and its command would not; "
                    + "access.confinedUsers in the settings can name its user", "held",
            ]
        }
        let lines = run.output.split(separator: "\n").map(String.init)
        #expect(lines == refused + ["nested", "counted", "narrower"], "\(run)")
    }
}
