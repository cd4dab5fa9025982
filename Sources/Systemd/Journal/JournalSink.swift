internal import CSystemd
internal import Glibc

/// Where a ``JournalWriter`` writes to.
package enum JournalDestination: Sendable, Equatable {
    /// journald, with fields.
    case journal

    /// One line an entry, to an open descriptor that stays the caller's.
    ///
    /// `levelPrefix` puts `<N>` of sd-daemon(3) first, for a reader that understands it.
    case text(descriptor: Int32, levelPrefix: Bool)

    /// The journal where standard error leads there, and text on standard error elsewhere.
    ///
    /// systemd tells by JOURNAL_STREAM, which holds device and inode of the stream it opened; they
    /// are compared, since a redirected standard error inherits the variable too (systemd.exec(5)).
    package static func standard() -> JournalDestination {
        let stream = getenv("JOURNAL_STREAM").map { String(cString: $0) }
        var status = stat()
        guard let stream, fstat(STDERR_FILENO, &status) == 0 else {
            return .text(descriptor: STDERR_FILENO, levelPrefix: false)
        }
        return stream == "\(status.st_dev):\(status.st_ino)"
            ? .journal : .text(descriptor: STDERR_FILENO, levelPrefix: false)
    }
}

/// Writes entries, one at a time, on the writer's thread; may block.
struct JournalSink: Sendable {
    let destination: JournalDestination
    /// SYSLOG_IDENTIFIER where an entry does not bring its own.
    let identifier: String

    /// Where journald takes entries (sd-journal(3)).
    private static let journalSocket = "/run/systemd/journal/socket"

    /// - Throws: ``SystemdError``; the entry is lost then.
    func write(_ entry: JournalEntry) throws(SystemdError) {
        switch destination {
        case .journal:
            try send(entry)
        case .text(let descriptor, let levelPrefix):
            let line = JournalText.line(entry, levelPrefix: levelPrefix)
            try Self.writeAll(line, to: descriptor)
        }
    }

    private func send(_ entry: JournalEntry) throws(SystemdError) {
        // sd_journal_sendv(3) succeeds where there is no journal, and the entry would be lost uncounted.
        guard access(Self.journalSocket, F_OK) == 0 else {
            throw SystemdError(
                operation: "sd_journal_sendv", errno: errno, subject: Self.journalSocket)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        var ends: [Int] = []
        for (key, value) in journalFields(of: entry) {
            bytes.append(contentsOf: key.name.utf8)
            bytes.append(UInt8(ascii: "="))
            value.append(to: &bytes)
            ends.append(bytes.count)
        }
        let result = bytes.withUnsafeMutableBytes { buffer in
            var start = 0
            let vectors = ends.map { end in
                defer { start = end }
                let base = buffer.baseAddress?.advanced(by: start)
                return iovec(iov_base: base, iov_len: end - start)
            }
            return sd_journal_sendv(vectors, Int32(vectors.count))
        }
        try SystemdError.check(result, "sd_journal_sendv")
    }

    private func journalFields(
        of entry: JournalEntry
    ) -> [(key: JournalField, value: JournalValue)] {
        var fields: [(key: JournalField, value: JournalValue)] = [
            (.message, entry.message), (.priority, .integer(Int64(entry.level.rawValue))),
        ]
        if let messageID = entry.messageID {
            fields.append((.messageID, .string(messageID.hex)))
        }
        fields.append((.syslogIdentifier, entry.identifier ?? .string(identifier)))
        return fields + entry.fields
    }

    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) throws(SystemdError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                // Somebody shares the terminal or pipe with us and made it non-blocking.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wanted, 1, -1)
            } else if errno != EINTR {
                throw SystemdError(
                    operation: "write",
                    errno: errno,
                    subject: "descriptor \(descriptor)"
                )
            }
        }
    }
}
