/// Shows a command so that a shell would read it as the same words.
package enum CommandText {
    package static func line(_ words: [String]) -> String {
        words.map(ShellWord.quoted).joined(separator: " ")
    }

    /// What a task does: of a command of --on-end, what the user wrote.
    static func shown(_ words: [String]) -> String {
        EndCommand.script(of: words).map { "on-end: \($0)" } ?? line(words)
    }
}

/// Shows sizes in a person's words.
package enum SizeText {
    package static func bytes(_ count: Int) -> String {
        var units = ["KiB", "MiB", "GiB", "TiB"][...]
        guard count >= 1024, var unit = units.popFirst() else { return "\(count) B" }
        var tenths = count / 1024 * 10 + count % 1024 * 10 / 1024
        while tenths >= 10240, let next = units.popFirst() {
            tenths /= 1024
            unit = next
        }
        return tenths < 1000 && tenths % 10 != 0
            ? "\(tenths / 10).\(tenths % 10) \(unit)" : "\(tenths / 10) \(unit)"
    }
}
