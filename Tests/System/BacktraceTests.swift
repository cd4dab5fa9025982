import Foundation
import TestKit
import Testing

extension SystemTests {
    /// What a crash in the field leaves behind.
    @Suite("A trap in an optimised and stripped program")
    struct BacktraceTests {
        private static let folder = "\(Programs.folder)/test"
        private static let isBuilt = FileManager.default.fileExists(
            atPath: "\(folder)/systemd-probe")

        /// The unit's own setting, for the place of what is built.
        private func setting() throws -> String {
            let unit = try InstalledUnits.text(of: "bgtaskd.service", .system)
            let line = try #require(
                unit.split(separator: "\n").first { $0.hasPrefix("Environment=SWIFT_BACKTRACE=") })
            return line.dropFirst("Environment=".count).replacingOccurrences(
                of: "/usr/local/libexec/bgtaskd/", with: "\(Programs.folder)/")
        }

        @Test(
            "leaves a backtrace with the names of functions in the journal",
            .enabled(if: isBuilt, "no stripped program is there; see make test-shipped"))
        func trap() throws {
            let run = try Box.execRaw(
                "systemd-run", "--quiet", "--wait", "--unit=trap", "--setenv=\(setting())",
                "\(Self.folder)/systemd-probe", "trap", "word")
            #expect(run.status != 0)
            let journal = try Box.execRaw(
                "sh", "-c", "journalctl --sync; journalctl --quiet --output=cat --unit=trap")
            #expect(journal.output.contains("Program crashed"), "\(journal)")
            #expect(journal.output.contains("trap(_:)"), "\(journal)")
            #expect(!journal.output.contains("failed to suspend"), "\(journal)")
        }
    }
}
