package import TaskAPI

/// Shows in which states applications were.
package enum SpanText {
    /// A table of spans.
    ///
    /// - Parameters:
    ///   - owners: with the owner of each.
    ///   - isPerson: whether it is for a person, who wants to know the time of day of what was today.
    ///   - users: the name of a user.
    package static func table(
        _ spans: [Applications.Span], owners: Bool, isPerson: Bool, users: (Int) -> String
    ) -> Table {
        var columns = [
            Table.Column("BEGAN"), Table.Column("ID", widthMin: 8), Table.Column("STATE"),
            Table.Column("FOR", isRight: true),
            Table.Column("REASON", widthMin: 8, isOptional: true),
        ]
        let owner =
            isPerson ? Table.Column("USER", widthMin: 6) : Table.Column("OWNER", isRight: true)
        if owners { columns.insert(owner, at: 1) }
        let rows = spans.map { span in
            var cells = [
                Table.Cell(
                    isPerson
                        ? WallClock.brief(millisecondsAgo: span.beganMs)
                        : WallClock.text(millisecondsAgo: span.beganMs)),
                Table.Cell(span.application),
                Table.Cell(span.state.rawValue, ApplicationText.colour(span.state)),
                Table.Cell(TimeText.span(length(span))), Table.Cell(reason(span)),
            ]
            if owners {
                cells.insert(
                    Table.Cell(isPerson ? users(span.owner) : String(span.owner)), at: 1)
            }
            return cells
        }
        return Table(columns: columns, rows: rows)
    }

    /// How long it lasted, or has lasted.
    private static func length(_ span: Applications.Span) -> Int {
        let (length, overflow) = span.beganMs.subtractingReportingOverflow(span.endedMs ?? 0)
        return overflow ? 0 : length
    }

    /// Why the run before it ended, and that nobody saw its own end.
    private static func reason(_ span: Applications.Span) -> String {
        let unseen = span.seenMs.map { "end not seen, last seen \(TimeText.span($0)) ago" }
        let texts = [span.reason?.rawValue, unseen].compactMap { $0 }
        return texts.isEmpty ? Table.nothing : texts.joined(separator: "; ")
    }
}
