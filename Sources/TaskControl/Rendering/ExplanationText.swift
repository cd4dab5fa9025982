package import TaskAPI

/// Shows explanations.
package enum ExplanationText {
    /// One line each: the rule, its number, what it says, and when that can change.
    package static func lines(_ explanations: [Tasks.Explanation], _ style: Style) -> String {
        guard style.isTerminal else { return explanations.map(plainLine).joined() }
        let width = explanations.map { TextWidth.of(heading($0)) }.max() ?? 0
        return explanations.map { explanation in
            let heading = heading(explanation)
            let padding = String(repeating: " ", count: width - TextWidth.of(heading))
            let when =
                explanation.earliestChangeMs.map { "; can change in \(TimeText.span($0))" } ?? ""
            let text = VisibleText.oneLine(explanation.text)
            return "\(style.paint(heading, .bold))\(padding)  \(text)\(when)\n"
        }.joined()
    }

    /// `slots (4)`.
    private static func heading(_ explanation: Tasks.Explanation) -> String {
        let number = explanation.value.map { " (\(LimitText.amount(explanation.rule, $0)))" } ?? ""
        return VisibleText.oneLine(explanation.rule) + number
    }

    private static func plainLine(_ explanation: Tasks.Explanation) -> String {
        let value = explanation.value.map { LimitText.amount(explanation.rule, $0) }
        let change = explanation.earliestChangeMs.map(TimeText.span)
        let fields = [explanation.rule, value ?? "-", change ?? "-", explanation.text]
        return fields.map(VisibleText.oneLine).joined(separator: "\t") + "\n"
    }
}
