import Foundation
import TestKit
import Testing

/// The Debian package, and what is installed without it, where another version of systemd runs.
@Suite("The Debian package, under a systemd of its own", .serialized, .timeLimit(.minutes(15)))
struct PackageTests {
    /// A Debian to install on: this machine's, or one that `debian-root` has made.
    enum Root: String, CaseIterable {
        case bookworm = "/"
        case trixie = ".build/debian/trixie/root"

        var path: String {
            rawValue.hasPrefix("/") ? rawValue : Box.project.appendingPathComponent(rawValue).path
        }
    }

    private static let packages = Box.project.appendingPathComponent(".build/deb").path

    /// Why it cannot be tried here; `nil` where it can.
    private static func reasonAgainst(_ root: Root) -> String? {
        if let reason = Box.reasonAgainst { return reason }
        // There all has to be complete.
        if ProcessInfo.processInfo.environment["CI"] == "true" { return nil }
        let files = FileManager.default
        guard Programs.folder != Programs.buildFolder, files.fileExists(atPath: packages) else {
            return "no package is built; see make test-all"
        }
        return files.fileExists(atPath: root.path)
            ? nil : "there is no \(root.path); see debian-root"
    }

    @Test(
        "is installed, upgraded while tasks run, removed and purged; systemd and varlinkctl take what is there",
        arguments: Root.allCases)
    func moves(root: Root) throws {
        if let reason = Self.reasonAgainst(root) { try Test.cancel(Comment(rawValue: reason)) }
        let run = try Box.run(
            "package-moves", ["\(root)", root.path, Self.packages, Programs.folder], [:])
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.line.hasSuffix("all is as it must be"), "\(run.output)\(run.errors)")
        #expect(run.output.contains("call --more") == (root == .trixie))
    }
}
