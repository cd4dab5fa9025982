import Foundation
import Testing

@Suite("The house style")
struct TidyTests {
    private static let top = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func files() throws -> [SourceFile] {
        var files: [SourceFile] = []
        for folder in ["Sources", "Tests"] {
            let names = try FileManager.default.subpathsOfDirectory(
                atPath: top.appendingPathComponent(folder).path
            )
            for name in names.sorted() {
                guard [".swift", ".c", ".h"].contains(where: { name.hasSuffix($0) }) else {
                    continue
                }
                let path = "\(folder)/\(name)"
                let url = top.appendingPathComponent(path)
                files.append(
                    SourceFile(path: path, text: try String(contentsOf: url, encoding: .utf8))
                )
            }
        }
        return files
    }

    @Test("no file breaks a rule")
    func filesAreTidy() throws {
        let files = try Self.files()
        try #require(files.contains { $0.path.hasPrefix("Sources/") })
        for file in files {
            for rule in Rules.all {
                for violation in rule.violations(in: file) {
                    Issue.record("\(violation)")
                }
            }
        }
    }

    @Test("every exception is still needed and says why")
    func exceptionsAreNeeded() throws {
        let paths = Set(try Self.files().map(\.path))
        for (path, reason) in Rules.wallClockReaders {
            #expect(paths.contains(path))
            #expect(!reason.isEmpty)
        }
    }
}
