import Foundation
import Testing

@Suite("The page on the architecture")
struct ArchitecturePageTests {
    private static func page() throws -> String {
        let url = RepositoryFiles.top.appendingPathComponent("docs/architecture.md")
        return try String(contentsOf: url, encoding: .utf8)
    }

    /// The numbers of the rules, in their order.
    private static func ruleNumbers() throws -> [Int] {
        try page().matches(of: /^([0-9]+)\.[ ]/.anchorsMatchLineEndings()).compactMap { Int($0.1) }
    }

    @Test("numbers its rules from 1 to 35, so that a number means the same for ever")
    func numbersRules() throws {
        #expect(try Self.ruleNumbers() == Array(1...35))
    }

    @Test("has the rules that comments and tests cite")
    func rulesAreThere() throws {
        let rules = Set(try Self.ruleNumbers())
        for file in try RepositoryFiles.all() {
            let url = RepositoryFiles.top.appendingPathComponent(file.path)
            let text = try String(contentsOf: url, encoding: .utf8)
            for match in text.matches(
                of: /architecture\.md, rules? ([0-9]+)(?: (?:to|and) ([0-9]+))?/)
            {
                for number in [match.1, match.2].compactMap({ $0 }).compactMap({ Int($0) }) {
                    #expect(rules.contains(number), "\(file.path): rule \(number)")
                }
            }
        }
    }

    @Test("has a line for each module, which names what the module imports of ours")
    func namesModules() throws {
        var rows: [String: String] = [:]
        for line in try Self.page().split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.count == 3 { rows[cells[0].filter { $0 != "`" }] = cells[2] }
        }
        let sources = RepositoryFiles.top.appendingPathComponent("Sources").path
        let swift = Set(try RepositoryFiles.all().filter(\.isSwift).compactMap(\.module))
        let modules = Set(try FileManager.default.contentsOfDirectory(atPath: sources))
        for module in modules.sorted() {
            guard let row = rows[module] else {
                Issue.record("\(module) has no line")
                continue
            }
            if row.hasPrefix("all ") { continue }
            let named = Set(row.matches(of: /`([^`]+)`/).map { String($0.1) })
            let ours = (ImportTable.allowed[module] ?? []).intersection(modules)
            // What is in C includes instead, and has no arrows in the table.
            if swift.contains(module) { #expect(named == ours, "\(module)") }
        }
    }
}
