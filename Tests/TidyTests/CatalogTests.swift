import Foundation
import Testing

@Suite("The message catalog")
struct CatalogTests {
    /// One text of the catalog.
    struct Entry {
        var id: String
        var header: [String: String] = [:]
        var text = ""

        /// The fields that stand between @ in it.
        var fields: [String] {
            let all = header.values.sorted().joined(separator: "\n") + text
            return all.matches(of: /@([A-Za-z0-9_]+)@/).map { String($0.1) }
        }
    }

    /// Fields that hold no control character: numbers, and names, which are refused with one. What a user
    /// chose freely has no place in the catalog: journalctl prints it as it is.
    private static let harmless: Set<String> = [
        "BGTASK_ID", "BGTASK_NAME", "BGTASK_APPLICATION", "BGTASK_OWNER", "BGTASK_OPERATOR",
        "BGTASK_USED_USEC",
        "BGTASK_BUDGET_USEC", "BGTASK_OUTCOME", "BGTASK_ATTEMPT", "BGTASK_GROUP",
        "BGTASK_PEER_PID", "BGTASK_COUNT", "BGTASK_LOST_AUDIT", "BGTASK_LOST_OUTPUT",
    ]

    /// Besides, in what the daemon says of itself.
    private static let texts: Set<String> = [
        "BGTASK_REASON", "BGTASK_LEVEL", "BGTASK_CHANGED", "BGTASK_NEED_RESTART", "BGTASK_SCOPE",
        "BGTASK_SOCKET", "BGTASK_STATE_DIRECTORY", "BGTASK_CONTAINMENT",
    ]

    /// Task messages whose reason is a count of the daemon's.
    private static let counting: Set<String> = [
        "outputNotLogged", "oldTasksNotNamed", "entriesNotLogged",
    ]

    private static func entries() throws -> [Entry] {
        let url = RepositoryFiles.top.appendingPathComponent("systemd/bgtaskd.catalog")
        var entries: [Entry] = []
        for line in try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n") {
            if line.hasPrefix("#") { continue }
            if let match = line.wholeMatch(of: /-- ([0-9a-f]{32})/) {
                entries.append(Entry(id: String(match.1)))
            } else if var entry = entries.popLast() {
                if entry.text.isEmpty, let match = line.wholeMatch(of: /([A-Z][A-Za-z-]+): (.+)/) {
                    entry.header[String(match.1)] = String(match.2)
                } else {
                    entry.text += line + "\n"
                }
                entries.append(entry)
            } else {
                #expect(line.isEmpty, "before the first entry: \(line)")
            }
        }
        return entries
    }

    /// The ids that the sources write, each with the line that it is in, by file.
    private static func idsTold() throws -> [(id: String, line: String, path: String)] {
        try RepositoryFiles.all().filter { $0.path.hasPrefix("Sources/") }.flatMap { file in
            let url = RepositoryFiles.top.appendingPathComponent(file.path)
            return try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
                .flatMap { line in
                    line.matches(of: /"([0-9a-f]{32})"/).map { (String($0.1), line, file.path) }
                }
        }
    }

    @Test("has exactly one entry for each message, and none that nobody says")
    func isComplete() throws {
        let told = try Self.idsTold()
        try #require(told.count > 40, "the search for ids finds too few")
        #expect(Set(told.map(\.id)).count == told.count, "an id stands for two messages")
        #expect(try Self.entries().map(\.id).sorted() == told.map(\.id).sorted())
    }

    @Test("says of each message who says it, what happened, and what to do")
    func isWhole() throws {
        for entry in try Self.entries() {
            #expect(entry.header["Defined-By"] == "bgtaskd", "\(entry.id)")
            #expect(entry.header["Subject"]?.isEmpty == false, "\(entry.id)")
            #expect(entry.header["Support"]?.isEmpty == false, "\(entry.id)")
            #expect(entry.header["Documentation"]?.contains("bgtaskd(8)") == true, "\(entry.id)")
            let paragraphs = entry.text.split(separator: "\n\n")
            #expect(paragraphs.count >= 2, "\(entry.id) does not say what to do")
        }
    }

    @Test("shows only fields that are known, and none that a user could write a text into")
    func showsSafeFields() throws {
        let url = RepositoryFiles.top
            .appendingPathComponent("Sources/Systemd/Journal/JournalField.swift")
        let names = try String(contentsOf: url, encoding: .utf8).matches(of: /"(BGTASK_[A-Z_]+)"/)
        let known = Set(names.map { String($0.1) })
        #expect(Self.harmless.union(Self.texts).isSubset(of: known))
        let told = try Self.idsTold()
        for entry in try Self.entries() {
            let source = try #require(told.first { $0.id == entry.id })
            let isOwn =
                source.path.hasSuffix("/DaemonMessage.swift")
                || Self.counting.contains { source.line.contains(" \($0):") }
            let allowed = isOwn ? Self.harmless.union(Self.texts) : Self.harmless
            for field in entry.fields {
                #expect(allowed.contains(field), "@\(field)@ in \(entry.id)")
            }
        }
    }
}
