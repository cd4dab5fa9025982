import Foundation
import Testing

@Suite("The house style")
struct TidyTests {
    @Test("no file breaks a rule")
    func filesAreTidy() throws {
        let files = try RepositoryFiles.all()
        for folder in ["Sources/", "Tests/", "Benchmarks/Sources/"] {
            try #require(files.contains { $0.path.hasPrefix(folder) })
        }
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
        let paths = Set(try RepositoryFiles.all().map(\.path))
        for (path, reason) in Rules.wallClockReaders {
            #expect(paths.contains(path))
            #expect(!reason.isEmpty)
        }
    }
}
