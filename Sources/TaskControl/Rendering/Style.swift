/// How lines are shown.
package enum Style: Equatable, Sendable {
    /// For a person: aligned columns under a header.
    case terminal(width: Int, colour: Bool)
    /// For a script: fields divided by tabs, and no header.
    case plain

    /// The colours in use; each has one meaning.
    package enum Colour: String, Sendable {
        case bold = "1"
        /// Something to look at.
        case red = "31"
        case green = "32"
        /// About to end.
        case yellow = "33"
        case grey = "90"
    }

    package var isTerminal: Bool { self != .plain }

    /// How wide the screen is; without one lines are as long as they are.
    var width: Int {
        guard case .terminal(let width, _) = self else { return .max }
        return width
    }

    /// The text in a colour, where colours are shown.
    func paint(_ text: String, _ colour: Colour?) -> String {
        guard case .terminal(_, true) = self, let colour else { return text }
        return "\u{1B}[\(colour.rawValue)m\(text)\u{1B}[0m"
    }
}
