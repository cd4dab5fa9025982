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

        /// The unit's own setting.
        private func setting() throws -> String {
            let unit = try InstalledUnits.text(of: "bgtaskd.service", .system)
            let line = try #require(
                unit.split(separator: "\n").first { $0.hasPrefix("Environment=SWIFT_BACKTRACE=") })
            return String(line.dropFirst("Environment=".count))
        }

        /// Has a program end by a trap, as a unit of that name.
        ///
        /// - Returns: what the journal has of it.
        private func crash(_ unit: String) throws -> String {
            let run = try Box.execRaw(
                "systemd-run", "--quiet", "--wait", "--unit=\(unit)",
                "--setenv=\(setting())",
                "\(Self.folder)/systemd-probe", "trap", "word")
            #expect(run.status != 0)
            return try Box.execRaw(
                "sh", "-c", "journalctl --sync; journalctl --quiet --output=cat --unit=\(unit)"
            ).output
        }

        @Test(
            "leaves a backtrace with the names of functions in the journal",
            .enabled(if: isBuilt, "no stripped program is there; see make test-all"))
        func trap() throws {
            let journal = try crash("trap")
            #expect(journal.contains("Program crashed"), "\(journal)")
            #expect(journal.contains("trap(_:)"), "\(journal)")
        }
    }
}
