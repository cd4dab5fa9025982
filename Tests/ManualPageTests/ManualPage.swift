import Foundation

/// One of our manual pages, as its parts; it is written with the macros of groff_man(7).
struct ManualPage {
    /// A paragraph with a tag: what is described, and what is said of it.
    struct Entry {
        var tag: String
        var text: String
    }

    /// What stands below a heading within a section.
    struct Part {
        var title: String
        var lines: [String]

        var entries: [Entry] { ManualPage.entries(in: lines) }
        /// The lines from `.SY` to `.YS`: how something is called.
        var usage: String {
            let first = lines.firstIndex { $0.hasPrefix(".SY") } ?? lines.endIndex
            let last = lines.firstIndex(of: ".YS") ?? lines.endIndex
            return first < last ? ManualPage.plain(Array(lines[first..<last])) : ""
        }
        /// What stands in examples, which is shown as it is.
        var examples: [String] {
            lines.split(whereSeparator: { $0 != ".EX" && $0 != ".EE" ? false : true })
                .enumerated().filter { !$0.offset.isMultiple(of: 2) }
                .map { $0.element.joined(separator: "\n") }
        }
    }

    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("systemd/man")
    static let names = ["bgtask-executor.8", "bgtaskctl.1", "bgtaskd.8", "bgtaskd.toml.5"]

    private let lines: [String]

    init(_ name: String) throws {
        let text = try String(
            contentsOf: Self.folder.appendingPathComponent(name), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The titles of its sections.
    var sections: [String] {
        lines.filter { $0.hasPrefix(".SH ") }.map { String($0.dropFirst(4)) }
    }

    /// A section, without its heading.
    func section(_ title: String) -> Part {
        let body = lines.drop { $0 != ".SH \(title)" }.dropFirst().prefix { !$0.hasPrefix(".SH") }
        return Part(title: title, lines: Array(body))
    }

    /// The parts that a section has under headings of their own.
    func parts(of section: String) -> [Part] {
        var parts: [Part] = []
        for line in self.section(section).lines {
            if line.hasPrefix(".SS ") {
                parts.append(Part(title: Self.plain([line]), lines: []))
            } else if let last = parts.indices.last {
                parts[last].lines.append(line)
            }
        }
        return parts
    }

    private static func entries(in lines: [String]) -> [Entry] {
        var entries: [Entry] = []
        var isOpen = false
        var isTag = false
        for line in lines {
            if line == ".TP" {
                isTag = true
            } else if isTag {
                entries.append(Entry(tag: plain([line]), text: ""))
                (isOpen, isTag) = (true, false)
            } else if [".PP", ".SS", ".IP"].contains(line.prefix(3)) {
                isOpen = false
            } else if isOpen, let last = entries.indices.last {
                entries[last].text += (entries[last].text.isEmpty ? "" : " ") + plain([line])
            }
        }
        return entries
    }

    /// Lines as a reader sees them, without fonts.
    private static func plain(_ lines: [String]) -> String {
        lines.map { line in
            guard line.hasPrefix(".") else { return unescaped(line) }
            let words = arguments(of: line)
            let isAlternating = ["BR", "RB", "BI", "IB", "RI", "IR"].contains(words[0])
            return words.dropFirst().map(unescaped).joined(separator: isAlternating ? "" : " ")
        }.joined(separator: " ")
    }

    /// A macro and its arguments; a quoted one may have spaces in it.
    private static func arguments(of line: String) -> [String] {
        var words = [""]
        var isQuoted = false
        for character in line.dropFirst() {
            if character == "\"" {
                isQuoted.toggle()
            } else if character == " ", !isQuoted {
                words.append("")
            } else {
                words[words.count - 1].append(character)
            }
        }
        return words
    }

    private static func unescaped(_ text: String) -> String {
        let escapes = [
            ("\\-", "-"), ("\\~", " "), ("\\&", ""), ("\\(dq", "\""), ("\\(bu", "*"),
            ("\\fR", ""), ("\\fB", ""), ("\\fI", ""), ("\\fP", ""),
        ]
        return escapes.reduce(text) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
    }
}

/// A program of ours or of the system.
enum Program {
    /// What a program says, errors included.
    static func said(by path: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        let output = Pipe()
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return data
    }
}
