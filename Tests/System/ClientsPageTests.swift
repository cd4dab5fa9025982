import Foundation
import TestKit
import Testing

/// What docs/clients.md shows, done on a Debian 13 with its tools and compilers.
@Suite("docs/clients.md, under a systemd of its own", .timeLimit(.minutes(15)))
struct ClientsPageTests {
    private static let root = Box.project.appendingPathComponent(".build/debian/trixie/root").path

    /// Why it cannot be tried here; `nil` where it can.
    private static let reasonAgainst: String? = {
        if let reason = Box.reasonAgainst { return reason }
        // There all has to be complete.
        if ProcessInfo.processInfo.environment["CI"] == "true" { return nil }
        if Programs.folder == Programs.buildFolder {
            return "these programs run on this Debian alone; see make test-all"
        }
        return FileManager.default.isExecutableFile(
            atPath: root + "/usr/bin/varlink-go-interface-generator")
            ? nil : "\(root) has no compilers; see debian-root"
    }()

    @Test("its commands, programs and units do what is written below them")
    func commands() throws {
        if let reason = Self.reasonAgainst { try Test.cancel(Comment(rawValue: reason)) }
        let steps = """
            make --silent -C /project BUILD=/programs install &&
            systemctl start bgtaskd && cd /project &&
            exec python3 Tests/System/clients_page.py docs/clients.md
            """
        let run = try Box.run(
            "own-box",
            [
                "clients", Self.root, "--timeout", "180",
                "--bind-ro", "\(Box.project.path):/project",
                "--bind-ro", "\(Programs.folder):/programs",
                "--", Box.project.path + "/Tests/System/systemd-box",
                "exec", "--raw", "--", "timeout", "600", "sh", "-c", steps,
            ], [:])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.line.hasSuffix("outputs are as the page shows them"), "\(run.output)")
    }
}
