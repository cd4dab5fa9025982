import Foundation

/// A document for people, in Markdown.
struct Document {
    struct Line {
        var text: String
        /// From 1.
        var number: Int
        /// Whether it is in a code block, or begins or ends one.
        var isCode: Bool
    }

    /// A piece of a line: a link's target, or code.
    struct Piece {
        var text: String
        var line: Int
    }

    /// Its place in the repository.
    let path: String
    let lines: [Line]
    /// Whether each code block is closed.
    let isClosed: Bool

    init(_ path: String) throws {
        self.path = path
        let url = RepositoryFiles.top.appendingPathComponent(path)
        var texts = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
        if texts.last == "" { texts.removeLast() }
        var lines: [Line] = []
        var isOpen = false
        for (number, text) in zip(1..., texts) {
            let isFence = text.drop { $0 == " " }.hasPrefix("```")
            lines.append(Line(text: text, number: number, isCode: isOpen || isFence))
            if isFence { isOpen.toggle() }
        }
        self.lines = lines
        isClosed = !isOpen
    }

    /// All that the rules for documents are for.
    static func all() throws -> [Document] {
        let docs = RepositoryFiles.top.appendingPathComponent("docs").path
        let names = try FileManager.default.contentsOfDirectory(atPath: docs).sorted()
        let pages = names.filter { $0.hasSuffix(".md") }.map { "docs/" + $0 }
        return try (["README.md", "CHANGELOG.md", "Benchmarks/README.md"] + pages).map {
            try Document($0)
        }
    }

    /// The targets of its links and pictures.
    var links: [Piece] {
        lines.filter { !$0.isCode }.flatMap { line in
            line.text.replacing(/`[^`]*`/, with: "").matches(of: /\]\(([^)\s]+)\)/).map {
                Piece(text: String($0.1), line: line.number)
            }
        }
    }

    /// Lines of code blocks, and code within lines.
    var codes: [Piece] {
        lines.flatMap { line in
            if line.isCode { return [Piece(text: line.text, line: line.number)] }
            return line.text.matches(of: /`([^`]+)`/).map {
                Piece(text: String($0.1), line: line.number)
            }
        }
    }

    /// Lines that are neither code nor the head of a table, without what makes them an item of a list.
    var prose: [Piece] {
        zip(lines, lines.dropFirst().map(\.text) + [""]).compactMap { line, next in
            let isRule = line.text.hasPrefix("|--")
            if line.isCode || isRule || next.hasPrefix("|--") { return nil }
            let text = line.text.drop { $0 == " " || $0 == "-" }
            return Piece(text: String(text), line: line.number)
        }
    }

    /// What a link into it may name: its headings, as GitHub makes anchors of them.
    var anchors: Set<String> {
        let headings = lines.filter { !$0.isCode }.compactMap {
            $0.text.wholeMatch(of: /#+ (.*)/)?.1.lowercased()
        }
        return Set(
            headings.map { heading in
                heading.filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
                    .replacingOccurrences(of: " ", with: "-")
            })
    }

    /// What is wrong with a link of this document; `nil` for one that leads somewhere, and for those to the web.
    func problem(of link: String) throws -> String? {
        if link.contains("://") { return nil }
        let parts = link.components(separatedBy: "#")
        let folder = (path as NSString).deletingLastPathComponent
        let target = parts[0].isEmpty ? path : Self.simplified("\(folder)/\(parts[0])")
        let url = RepositoryFiles.top.appendingPathComponent(target)
        if target.hasPrefix("..") || !FileManager.default.fileExists(atPath: url.path) {
            return "is not there"
        }
        guard parts.count > 1 else { return nil }
        return try Document(target).anchors.contains(parts[1]) ? nil : "has no such heading"
    }

    /// A path without `..` that follows a folder.
    private static func simplified(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." {
                parts.removeLast()
            } else {
                parts.append(part)
            }
        }
        return parts.joined(separator: "/")
    }
}
