import DaemonShell
import Glibc
import Logging
import Systemd
import TestKit
import Testing

/// A folder for a store and for sockets, removed with it.
final class StateFolder {
    let path: String

    init() {
        var template = Array("/tmp/bgtaskd-shell-XXXXXX".utf8CString)
        #expect(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    private static func remove(_ folder: String) {
        for name in names(inFolder: folder) {
            if unlink("\(folder)/\(name)") != 0 { remove("\(folder)/\(name)") }
        }
        rmdir(folder)
    }
}

/// Keeps what is logged: the sentence, and what fields say.
final class Entries: LogHandler {
    // A test logs on its own thread alone.
    private(set) nonisolated(unsafe) var all: [String] = []
    private let separator: String
    private let fields: [JournalField]

    init(_ fields: [JournalField] = [.taskID], separator: String = " ") {
        (self.fields, self.separator) = (fields, separator)
    }

    // What loggers would set is left as it is.
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        let values = fields.map { "\(event.metadata?[$0.name] ?? "")" }
        all.append("\(event.message) " + values.joined(separator: separator))
    }
}
