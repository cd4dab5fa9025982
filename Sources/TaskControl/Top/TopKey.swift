/// A key as the live view takes it.
package enum TopKey: Equatable, Sendable {
    case up, down, pageUp, pageDown, home, end, enter, escape, backspace
    /// Show everything anew (Ctrl-L).
    case redraw
    case character(Unicode.Scalar)
}
