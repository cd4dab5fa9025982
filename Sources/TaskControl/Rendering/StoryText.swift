internal import Glibc
internal import JSON
package import Systemd
internal import Varlink

/// Shows entries of the journal about a task.
package enum StoryText {
    /// One line: when, who speaks (`task` for the daemon about it, `stdout` and `stderr` for itself,
    /// `bgtaskd` for the daemon about itself), and what.
    ///
    /// What the task chose cannot look like what the daemon says: it is on its own line, behind its stream,
    /// with everything visible that would steer a terminal.
    package static func line(_ record: JournalRecord, _ style: Style) -> String {
        let speaker = record[.stream] ?? (record[.taskID] == nil ? "bgtaskd" : "task")
        let level = record[.priority].flatMap { UInt8($0) }.flatMap(JournalLevel.init(rawValue:))
        let text = VisibleText.oneLine((record[.message] ?? "") + details(of: record))
        let fields = [time(record.microseconds), VisibleText.oneLine(speaker)]
        guard style.isTerminal else {
            return (fields + [level?.word ?? "-", text]).joined(separator: "\t") + "\n"
        }
        let padding = String(repeating: " ", count: max(0, 7 - fields[1].count))
        return style.paint(fields[0], .grey) + "  " + fields[1] + padding + "  "
            + style.paint(text, colour(of: level, isOutput: record[.stream] != nil)) + "\n"
    }

    /// The fields of an entry as one JSON object, named as in the journal (journalctl -o json).
    package static func json(_ record: JournalRecord) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("__REALTIME_TIMESTAMP")
        writer.string(String(record.microseconds))
        let own = record.fields.filter { !$0.name.hasPrefix("_") }
        for (name, value) in own.sorted(by: { $0.name < $1.name }) {
            writer.key(name)
            writer.string(String(decoding: value, as: UTF8.self))
        }
        writer.endObject()
        return VisibleText.json(String(decoding: writer.bytes, as: UTF8.self)) + "\n"
    }

    /// What the sentence does not say: how a command ended, and why.
    private static func details(of record: JournalRecord) -> String {
        guard record[.stream] == nil else { return "" }
        let parts = [
            record[.exitStatus].map { "exit status \($0)" }, record[.signal], record[.reason],
        ].compactMap(\.self)
        return parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
    }

    private static func colour(of level: JournalLevel?, isOutput: Bool) -> Style.Colour? {
        switch level {
        case .some(...JournalLevel.error): .red
        case .warning: .yellow
        default: isOutput ? nil : .bold
        }
    }

    /// The local time of day with its date, such as `2026-11-21 19:30:01`.
    private static func time(_ microseconds: UInt64) -> String {
        var seconds = time_t(microseconds / 1_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "@\(seconds)" }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = buffer.withUnsafeMutableBytes {
            strftime($0.baseAddress, $0.count, "%Y-%m-%d %H:%M:%S", &parts)
        }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
