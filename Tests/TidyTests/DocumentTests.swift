import Foundation
import Testing

@Suite("The documents")
struct DocumentTests {
    @Test("link only to what is there")
    func links() throws {
        let documents = try Document.all()
        try #require(documents.contains { $0.path.hasPrefix("docs/") && !$0.links.isEmpty })
        for document in documents {
            let isClosed = document.isClosed
            #expect(isClosed, "\(document.path) leaves a code block open")
            for link in document.links {
                if let problem = try document.problem(of: link.text) {
                    Issue.record("\(document.path):\(link.line): \(link.text) \(problem)")
                }
            }
        }
    }

    @Test("introduce in a few minutes: README.md has at most 170 lines")
    func length() throws {
        #expect(try Document("README.md").lines.count <= 170)
    }

    @Test("name only targets that the Makefile has")
    func targets() throws {
        let url = RepositoryFiles.top.appendingPathComponent("Makefile")
        let rules = try String(contentsOf: url, encoding: .utf8).matches(
            of: /^([a-z][a-z-]*):(?:[ ]|$)/.anchorsMatchLineEndings())
        let targets = Set(rules.map { String($0.1) })
        try #require(targets.contains("build"))
        for document in try Document.all() {
            for code in document.codes {
                let named = code.text.matches(
                    of: /(?:^|[\s;&(])make (?:[A-Z_]+=\S* )*([a-z][a-z-]*)/)
                for target in named.map({ String($0.1) }) where !targets.contains(target) {
                    Issue.record("\(document.path):\(code.line): there is no make \(target)")
                }
            }
        }
    }

    @Test("call only verbs that bgtaskctl(1) has")
    func verbs() throws {
        let verbs = try Self.verbs()
        for document in try Document.all() {
            for line in document.lines where line.isCode {
                for call in Self.calls(in: line.text) {
                    let isKnown = verbs.contains {
                        // `bgtaskctl group` does what `bgtaskctl group list` does.
                        call.starts(with: $0) || call + ["list"] == $0
                    }
                    if !isKnown {
                        let words = call.joined(separator: " ")
                        Issue.record("\(document.path):\(line.number): bgtaskctl \(words)")
                    }
                }
            }
        }
    }

    @Test("say nothing twice: no line of five words or more stands in two of them")
    func repetitions() throws {
        var places: [String: (path: String, line: Int)] = [:]
        for document in try Document.all() {
            for line in document.prose where line.text.split(separator: " ").count >= 5 {
                guard let first = places[line.text] else {
                    places[line.text] = (document.path, line.line)
                    continue
                }
                if first.path != document.path {
                    Issue.record(
                        "\(document.path):\(line.line) repeats \(first.path):\(first.line): \(line.text)"
                    )
                }
            }
        }
        try #require(places.count > 100)
    }

    /// The verbs under COMMANDS in bgtaskctl(1), as their words.
    private static func verbs() throws -> [[String]] {
        let url = RepositoryFiles.top.appendingPathComponent("systemd/man/bgtaskctl.1")
        let page = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
        let commands = page.drop { $0 != ".SH COMMANDS" }.dropFirst()
            .prefix { !$0.hasPrefix(".SH ") }
        let titles = commands.filter { $0.hasPrefix(".SS ") }
            .map { $0.dropFirst(4).replacingOccurrences(of: "\\-", with: "-") }
        try #require(titles.contains("run"))
        return titles.map { $0.components(separatedBy: " ") }
    }

    /// What follows each `bgtaskctl` of a line, without the options that may stand before a verb.
    private static func calls(in line: String) -> [[String]] {
        let words = line.replacing(/\s#\s.*/, with: "").split { " \t$();|&".contains($0) }
            .map(String.init)
        return words.indices.filter { words[$0] == "bgtaskctl" }.map { index in
            var call = words[(index + 1)...]
            while let option = call.first, option.hasPrefix("-") {
                call = call.dropFirst(option == "--socket" ? 2 : 1)
            }
            return Array(call)
        }
    }

    @Test("the changelog begins with the version of the programs")
    func version() throws {
        let source = RepositoryFiles.top.appendingPathComponent("Sources/TaskAPI/Version.swift")
        let words = try String(contentsOf: source, encoding: .utf8).split(separator: "\"")
        let changes = RepositoryFiles.top.appendingPathComponent("CHANGELOG.md")
        let headings = try String(contentsOf: changes, encoding: .utf8)
            .split(separator: "\n").filter { $0.hasPrefix("## ") }
        let newest = try #require(headings.first?.split(separator: " ").dropFirst().first)
        #expect(words.dropFirst().first == newest)
        let header = RepositoryFiles.top.appendingPathComponent(
            "Sources/CExecutor/include/executor_version.h")
        let texts = try String(contentsOf: header, encoding: .utf8).split(separator: "\"")
        #expect(texts.dropLast().last == newest)
    }
}
