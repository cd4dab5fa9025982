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

    @Test("every stored property has an owner")
    func stateHasAnOwner() throws {
        let violations = OwnerRule.violations(in: try RepositoryFiles.all())
        for violation in violations where !OwnerRule.exceptions.contains(violation.type) {
            Issue.record("\(violation)")
        }
        let found = Set(violations.map(\.type))
        for type in OwnerRule.exceptions.subtracting(found).sorted() {
            Issue.record("\(type) keeps the rule of owners: take it out of the exceptions")
        }
    }

    @Test("every exception is still needed and says why")
    func exceptionsAreNeeded() throws {
        let files = Dictionary(
            uniqueKeysWithValues: try RepositoryFiles.all().map { ($0.path, $0) })
        for (path, reason) in Rules.wallClockReaders {
            #expect(files[path] != nil, "\(path)")
            #expect(!reason.isEmpty)
        }
        for (path, reason) in Rules.processReaders {
            let lines = files[path]?.lines(with: Rules.processReadCalls)
            #expect(lines?.isEmpty == false, "\(path)")
            #expect(!reason.isEmpty)
        }
        for (path, reason) in Rules.preconditionOwners {
            #expect(files[path]?.lines(with: ["precondition("]).isEmpty == false, "\(path)")
            #expect(!reason.isEmpty)
        }
    }

    @Test("every arrow between modules is used, and every module has its line")
    func arrowsAreUsed() throws {
        var used: [String: Set<String>] = [:]
        for file in try RepositoryFiles.all() {
            guard let module = file.module else { continue }
            let imports = file.codeLines.compactMap { ImportTable.imported(by: $0) }
            used[module, default: []].formUnion(imports)
        }
        for (module, allowed) in ImportTable.allowed {
            let unused = allowed.subtracting(used[module] ?? [])
            #expect(unused.isEmpty, "\(module) does not import \(unused.sorted())")
        }
        let missing = Set(ImportTable.allowed.keys).subtracting(used.keys)
        #expect(missing.isSubset(of: ["CSystemd", "CSQLite", "CEpoll"]), "\(missing.sorted())")
    }
}
