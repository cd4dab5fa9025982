package import Logging

/// swift-log over a ``JournalWriter``, for what is not an action.
///
/// Metadata becomes fields, named by ``JournalFieldName/init(key:)``, but for MESSAGE_ID, which is the
/// entry's own. The level that counts is the writer's, so that one order changes all loggers.
package struct JournalLogHandler: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var metadataProvider: Logger.MetadataProvider?

    private let writer: JournalWriter

    /// - Parameters:
    ///   - writer: takes the entries; its level is the one that counts.
    ///   - metadataProvider: adds fields of the present task, below those of the logger.
    package init(writer: JournalWriter, metadataProvider: Logger.MetadataProvider? = nil) {
        self.writer = writer
        self.metadataProvider = metadataProvider
    }

    package var logLevel: Logger.Level {
        get { Logger.Level(writer.level) }
        set { writer.level = JournalLevel(newValue) }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let level = JournalLevel(event.level)
        guard writer.writes(level) else { return }
        var merged = metadataProvider?.get() ?? [:]
        merged.merge(metadata) { $1 }
        merged.merge(event.metadata ?? [:]) { $1 }
        if let error = event.error {
            merged["error"] = "\(error)"
        }
        let id = merged.removeValue(forKey: JournalField.messageID.name)
        // By name, since a dictionary has no order of its own.
        let fields = merged.sorted { $0.key < $1.key }.map { key, value in
            (
                key: JournalField.metadata(JournalFieldName(key: key)),
                value: JournalValue.string("\(value)")
            )
        }
        writer.write(
            JournalEntry(
                level: level, message: .string("\(event.message)"),
                messageID: id.flatMap { JournalMessageID(hex: "\($0)") }, fields: fields)
        )
    }
}

extension JournalLevel {
    /// syslog has no trace: it is debug.
    init(_ level: Logger.Level) {
        self =
            switch level {
            case .trace, .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
    }
}

extension Logger.Level {
    /// swift-log ends at critical.
    init(_ level: JournalLevel) {
        self =
            switch level {
            case .emergency, .alert, .critical: .critical
            case .error: .error
            case .warning: .warning
            case .notice: .notice
            case .info: .info
            case .debug: .trace
            }
    }
}
