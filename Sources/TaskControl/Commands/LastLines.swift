internal import TaskAPI

/// The last lines of an output.
package struct LastLines {
    /// A line with its end, or what there is of one.
    package struct Line: Equatable {
        let stream: String
        package fileprivate(set) var text: String
    }

    private let countMax: Int
    /// With some that are too many, so that those are let go together.
    private var gathered: [Line] = []

    package init(_ countMax: Int) {
        self.countMax = countMax
    }

    /// Those that are the last so far, the oldest first.
    package var lines: ArraySlice<Line> { gathered.suffix(countMax) }

    /// Takes what comes next.
    package mutating func add(_ text: String, of stream: String) {
        var rest = text[...]
        while !rest.isEmpty {
            let end = rest.utf8.firstIndex(of: 10).map(rest.utf8.index(after:)) ?? rest.endIndex
            let part = String(rest[..<end])
            rest = rest[end...]
            if let last = gathered.indices.last, gathered[last].stream == stream,
                gathered[last].text.utf8.last != 10
            {
                gathered[last].text += part
            } else {
                gathered.append(Line(stream: stream, text: part))
            }
        }
        if gathered.count / 2 > countMax { gathered.removeFirst(gathered.count - countMax) }
    }
}
