extension String {
    /// A text of a peer in a length for people, cut between two scalars and with a mark where it is longer.
    ///
    /// - Parameter bytesMax: of UTF-8, the mark included.
    package func cut(toBytes bytesMax: Int) -> String {
        guard utf8.count > bytesMax else { return self }
        let mark = "…"
        var end = utf8.index(startIndex, offsetBy: max(bytesMax - mark.utf8.count, 0))
        while end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
        return String(self[..<end]) + mark
    }
}
