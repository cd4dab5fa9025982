internal import Glibc

/// A line on standard error that says that a command which waits is alive: shown after a second, redrawn in its place
/// each second, and erased before anything else is written.
///
/// The cursor stays at its beginning, so that all of it is erased also where the terminal has become narrower meanwhile
/// and has broken it. A signal that ends or stops the process erases it too.
package final class StatusLine {
    private let text: () -> String
    private var isDrawn = false
    /// When it is to be drawn next.
    private(set) var dueAt = ContinuousClock.now.advanced(by: interval)

    private static let interval = Duration.seconds(1)
    private static let usualWidth = 80

    init(_ text: @escaping () -> String) {
        self.text = text
    }

    /// Whether there is somebody who reads it, and can: a person, at a terminal that has a cursor.
    package static func isWanted(isTerminal: Bool, isJSON: Bool, terminal: String?) -> Bool {
        isTerminal && !isJSON && terminal != nil && terminal != "dumb"
    }

    /// What draws a text in the place of another one.
    static func drawing(_ text: String, width: Int) -> String {
        "\r\(ActivityText.line(text, width: width))\u{1B}[K\r"
    }

    /// What erases it, below the cursor too.
    static var erasure: StaticString { "\r\u{1B}[J" }

    /// Draws it where that is due.
    func drawIfDue() {
        guard dueAt <= ContinuousClock.now else { return }
        // Another job has the terminal while this one is in the background.
        let foreground = tcgetpgrp(STDERR_FILENO)
        if foreground < 0 || foreground == getpgrp() {
            let drawing = Array(Self.drawing(text(), width: Self.width).utf8)
            ErasingSignals.take()
            isDrawn = true
            _ = write(STDERR_FILENO, drawing, drawing.count)
        }
        dueAt = ContinuousClock.now.advanced(by: Self.interval)
    }

    /// Erases it where it stands.
    ///
    /// - Returns: whether it stood there.
    @discardableResult
    func erase() -> Bool {
        guard isDrawn else { return false }
        isDrawn = false
        eraseStatusLine()
        ErasingSignals.giveBack()
        return true
    }

    private static var width: Int {
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return isKnown ? Int(size.ws_col) : usualWidth
    }
}

/// In a handler of a signal too: it takes no memory.
private func eraseStatusLine() {
    _ = write(STDERR_FILENO, StatusLine.erasure.utf8Start, StatusLine.erasure.utf8CodeUnitCount)
}

/// Signals that end or stop this process, while a line stands that they have to erase first.
private enum ErasingSignals {
    private static let all = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    /// Takes those that nobody else has taken, and that are not ignored.
    static func take() {
        for number in all where isUntaken(number) {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { number in
                let before = errno
                eraseStatusLine()
                // It comes again, for what it does to everybody, when the handler returns.
                signal(number, SIG_DFL)
                raise(number)
                errno = before
            }
            action.sa_flags = SA_RESTART
            sigaction(number, &action, nil)
            taken.insert(number)
        }
    }

    /// Leaves them as they were.
    static func giveBack() {
        for number in taken { signal(number, SIG_DFL) }
        taken = []
    }

    /// Of the one thread that there is.
    private nonisolated(unsafe) static var taken: Set<Int32> = []

    private static func isUntaken(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_DFL, to: Int.self)
    }
}
