/// The last lines that a task printed.
struct TopOutput: Equatable {
    let id: Int
    private(set) var lines: [String] = []
    /// Whether the last line has not ended yet.
    private var isOpen = false

    private static let linesMax = 500
    /// Where a line is cut that does not end.
    private static let lineBytesMax = 4096

    init(of id: Int) {
        self.id = id
    }

    /// Takes what comes next.
    mutating func add(_ text: String) {
        var rest = text[...]
        while !rest.isEmpty {
            let end = rest.utf8.firstIndex(of: 10)
            append(rest[..<(end ?? rest.endIndex)])
            isOpen = end == nil
            rest = end.map { rest[rest.utf8.index(after: $0)...] } ?? ""
        }
        if lines.count > TopOutput.linesMax * 2 {
            lines.removeFirst(lines.count - TopOutput.linesMax)
        }
    }

    private mutating func append(_ part: Substring) {
        // Only so much of it can be seen.
        let cut = String(decoding: part.utf8.prefix(TopOutput.lineBytesMax), as: UTF8.self)
        guard isOpen, let last = lines.indices.last,
            lines[last].utf8.count < TopOutput.lineBytesMax
        else { return lines.append(cut) }
        lines[last] += cut
    }

    /// The last lines, safe for a terminal: of what was written over with carriage returns what was left to be seen.
    func last(_ count: Int) -> [String] {
        lines.suffix(count).map { line in
            let visible = line.utf8.last == 13 ? line.dropLast() : line[...]
            let part = visible.unicodeScalars.split(separator: "\r").last.map(Substring.init)
            return VisibleText.oneLine(
                (part ?? "").split(separator: "\t", omittingEmptySubsequences: false)
                    .joined(separator: "    "))
        }
    }
}
