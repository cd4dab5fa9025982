import Glibc
import Logging
import Systemd
import Testing

@testable import DaemonShell

/// A folder for a store and for sockets, removed with it.
final class StateFolder {
    let path: String

    init() {
        var template = Array("/tmp/bgtaskd-shell-XXXXXX".utf8CString)
        #expect(mkdtemp(&template) != nil)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(path) }

    /// What is in a folder.
    static func names(_ folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func remove(_ folder: String) {
        for name in names(folder) {
            if unlink("\(folder)/\(name)") != 0 { remove("\(folder)/\(name)") }
        }
        rmdir(folder)
    }
}

/// Keeps what is logged: the sentence, and the task that it is about.
final class Entries: LogHandler {
    // A test logs on its own thread alone.
    private(set) nonisolated(unsafe) var all: [String] = []

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
        all.append("\(event.message) \(event.metadata?[JournalField.taskID.name] ?? "")")
    }
}
