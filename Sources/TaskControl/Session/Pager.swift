internal import Glibc

/// The program that shows what is longer than the screen.
package struct Pager: Equatable {
    package let words: [String]
    package let variables: [String: String]

    private static let usual = ["less"]
    /// What systemctl(1) sets too: leave where all fits the screen (F), show colours (R), cut long lines (S), leave the
    /// text on the screen (X), show where one is (M), and end with Ctrl-C (K).
    private static let lessOptions = "FRSXMK"

    /// - Parameters:
    ///   - setting: `$PAGER`, words with spaces between them; `nil` where it is not set.
    ///   - isElevated: whether this process can do more than who looks at the screen. Only a pager that can be told to
    ///     start no programs is used then.
    /// - Returns: `nil` where none is wanted.
    package init?(_ setting: String?, isElevated: Bool) {
        let words = setting.map { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
        guard words != [], words != ["cat"] else { return nil }
        self.words = isElevated ? Self.usual : words ?? Self.usual
        variables = ["LESS": Self.lessOptions]
            .merging(isElevated ? ["LESSSECURE": "1"] : [:]) { $1 }
    }

    /// The one that the environment names; `nil` where none is wanted.
    static var chosen: Pager? {
        guard Surroundings.value("TERM") != "dumb" else { return nil }
        let setting = getenv("PAGER").map { String(cString: $0) }
        return Pager(setting, isElevated: Surroundings.isElevated)
    }

    /// Shows a text, and waits until the pager has ended, which may be before it has read all of it.
    ///
    /// - Returns: `false` where the pager cannot be started.
    func show(_ text: String) -> Bool {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return false }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A pager that has gone must not take this process with it, nor must the Ctrl-C that is meant for the pager.
        let ignored = [SIGINT, SIGPIPE].filter { !SignalInbox.isIgnored($0) }
        for number in ignored { signal(number, SIG_IGN) }
        defer { for number in ignored { signal(number, SIG_DFL) } }
        let command = ChildCommand(
            words: words, variables: variables, defaults: ignored, input: ends[0])
        let process = try? command.start()
        close(ends[0])
        if process != nil { send(Array(text.utf8), to: ends[1]) }
        close(ends[1])
        guard let process else { return false }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return true
    }

    private func send(_ bytes: [UInt8], to descriptor: Int32) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                write(descriptor, $0.baseAddress, $0.count)
            }
            guard count >= 0 || errno == EINTR else { return }
            sent += max(0, count)
        }
    }
}
