internal import CSystemd
internal import Glibc

/// Reads entries of this machine's journal (sd-journal(3)), oldest first.
///
/// Of one thread: libsystemd's journal may not be used by two.
package final class JournalReader {
    private let journal: OpaquePointer

    /// Which files are read.
    package enum Files: Sendable {
        /// The system's: services, and users without a journal of their own.
        case system
        /// All that the caller may read, those of users included.
        case all
    }

    /// A field that an entry must have.
    package struct Match: Sendable, Equatable {
        package let field: String
        package let value: String

        package init(_ field: String, _ value: String) {
            self.field = field
            self.value = value
        }
    }

    /// Opens the journal before its first entry that matches.
    ///
    /// Fields that begin with an underscore are journald's own word; all others are what the writer of an
    /// entry says.
    ///
    /// - Parameters:
    ///   - files: which of them to read.
    ///   - all: each of these must hold.
    ///   - any: and one of these.
    /// - Throws: ``SystemdError``. That there is nothing the caller may read is no error: see ``isEmpty``.
    package init(
        _ files: Files, all: [Match], any: [Match] = []
    ) throws(SystemdError) {
        var flags = Int32(SD_JOURNAL_LOCAL_ONLY)
        if files == .system { flags |= Int32(SD_JOURNAL_SYSTEM) }
        var opened: OpaquePointer?
        try SystemdError.check(sd_journal_open(&opened, flags), "sd_journal_open")
        guard let opened else { throw SystemdError(operation: "sd_journal_open", errno: ENOENT) }
        journal = opened
        // Long lines are not cut: they are bounded by whoever wrote them.
        try SystemdError.check(
            sd_journal_set_data_threshold(journal, 0), "sd_journal_set_data_threshold")
        for match in all { try add(match) }
        // Matches after a conjunction are or-ed by the disjunctions between them.
        if !any.isEmpty {
            try SystemdError.check(
                sd_journal_add_conjunction(journal), "sd_journal_add_conjunction")
        }
        for (index, match) in any.enumerated() {
            if index > 0 {
                try SystemdError.check(
                    sd_journal_add_disjunction(journal), "sd_journal_add_disjunction")
            }
            try add(match)
        }
        try SystemdError.check(sd_journal_seek_head(journal), "sd_journal_seek_head")
    }

    deinit {
        sd_journal_close(journal)
    }

    /// Whether no file could be opened: there is none, or none that the caller may read.
    package var isEmpty: Bool {
        sd_journal_has_runtime_files(journal) <= 0 && sd_journal_has_persistent_files(journal) <= 0
    }

    /// Whether this machine keeps a journal that somebody may read (journald.conf(5), Storage=).
    package static var isKept: Bool {
        access("/var/log/journal", F_OK) == 0 || access("/run/log/journal", F_OK) == 0
    }

    /// Goes to the next entry that matches.
    ///
    /// - Returns: `nil` where there is none as of now.
    package func next() throws(SystemdError) -> JournalRecord? {
        guard try SystemdError.check(sd_journal_next(journal), "sd_journal_next") > 0 else {
            return nil
        }
        var record = JournalRecord()
        try SystemdError.check(
            sd_journal_get_realtime_usec(journal, &record.microseconds),
            "sd_journal_get_realtime_usec")
        sd_journal_restart_data(journal)
        while true {
            var data: UnsafeRawPointer?
            var count = 0
            let result = try SystemdError.check(
                sd_journal_enumerate_available_data(journal, &data, &count),
                "sd_journal_enumerate_available_data")
            guard result > 0, let data else { return record }
            record.take(UnsafeRawBufferPointer(start: data, count: count))
        }
    }

    /// Waits until there may be more to read.
    package func wait() throws(SystemdError) {
        while true {
            let result = sd_journal_wait(journal, UInt64.max)
            if result == -EINTR { continue }
            try SystemdError.check(result, "sd_journal_wait")
            return
        }
    }

    private func add(_ match: Match) throws(SystemdError) {
        var text = "\(match.field)=\(match.value)"
        let result = text.withUTF8 { sd_journal_add_match(journal, $0.baseAddress, $0.count) }
        try SystemdError.check(result, "sd_journal_add_match", subject: match.field)
    }
}

/// An entry as it was read.
package struct JournalRecord: Sendable, Equatable {
    /// When journald got it, in µs since 1970.
    package fileprivate(set) var microseconds: UInt64
    /// In the journal's order; of a field that is there more than once, the first.
    package private(set) var fields: [(name: String, value: [UInt8])]

    package init(microseconds: UInt64 = 0, fields: [(name: String, value: [UInt8])] = []) {
        self.microseconds = microseconds
        self.fields = fields
    }

    /// What a field says, repaired where it is not UTF-8; `nil` where the entry has none of that name.
    package subscript(field: JournalField) -> String? { self[field.name] }

    /// The same for any field, such as `_SYSTEMD_CGROUP`.
    package subscript(name: String) -> String? {
        fields.first { $0.name == name }.map { String(decoding: $0.value, as: UTF8.self) }
    }

    /// Takes `NAME=value` in.
    mutating func take(_ data: UnsafeRawBufferPointer) {
        guard let end = data.firstIndex(of: UInt8(ascii: "=")) else { return }
        let name = String(decoding: data[..<end], as: UTF8.self)
        guard !fields.contains(where: { $0.name == name }) else { return }
        fields.append((name, Array(data[(end + 1)...])))
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.microseconds == right.microseconds
            && left.fields.elementsEqual(right.fields) {
                $0.name == $1.name && $0.value == $1.value
            }
    }
}
