/// How urgent an entry is: the numbers of syslog(3) and sd-daemon(3).
package enum JournalLevel: UInt8, CaseIterable, Comparable, Sendable {
    case emergency = 0
    case alert, critical, error, warning, notice, info, debug

    /// The word that stands for it in text.
    package var word: String {
        switch self {
        case .emergency: "emerg"
        case .alert: "alert"
        case .critical: "crit"
        case .error: "err"
        case .warning: "warning"
        case .notice: "notice"
        case .info: "info"
        case .debug: "debug"
        }
    }

    /// Less is more urgent.
    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// The content of a field; turned into bytes on the writer's thread.
package enum JournalValue: Hashable, Sendable, ExpressibleByStringLiteral,
    ExpressibleByIntegerLiteral
{
    case string(String)
    /// Any bytes, newlines and NUL included.
    case bytes([UInt8])
    case integer(Int64)

    package init(stringLiteral value: String) {
        self = .string(value)
    }

    package init(integerLiteral value: Int64) {
        self = .integer(value)
    }

    /// Memory that it takes in the queue, about.
    var byteCount: Int {
        switch self {
        case .string(let string): string.utf8.count
        case .bytes(let bytes): bytes.count
        case .integer: 8
        }
    }

    func append(to bytes: inout [UInt8]) {
        switch self {
        case .string(let string): bytes.append(contentsOf: string.utf8)
        case .bytes(let content): bytes.append(contentsOf: content)
        case .integer(let number): bytes.append(contentsOf: String(number).utf8)
        }
    }
}

/// Which text of the message catalog explains an entry: an id128 (sd-id128(3)).
package struct JournalMessageID: Hashable, Sendable, ExpressibleByStringLiteral {
    /// 32 hexadecimal digits, lower case, without dashes.
    package let hex: String

    /// - Returns: `nil` where `hex` is not 32 lower-case hexadecimal digits.
    package init?(hex: String) {
        guard hex.utf8.count == 32, hex.utf8.allSatisfy({ "0123456789abcdef".utf8.contains($0) })
        else { return nil }
        self.hex = hex
    }

    /// A literal of ours; a wrong one is a mistake in our own source, which a build for tests traps on. The
    /// others take it as it is, since looking through it costs more than all else of an entry.
    package init(stringLiteral value: String) {
        assert(Self(hex: value) != nil, "a message id is 32 lower-case hexadecimal digits")
        hex = value
    }
}

/// One thing that happened.
package struct JournalEntry: Sendable, Equatable {
    /// What an entry may cost: output gives way to the audit trail.
    package enum Kind: Sendable, Equatable {
        /// What we did; may fill the whole queue.
        case audit
        /// What a task printed; may fill half of the queue.
        case output
    }

    package var kind: Kind
    package var level: JournalLevel
    /// A constant sentence for audit entries; a line for output.
    package var message: JournalValue
    package var messageID: JournalMessageID?
    /// SYSLOG_IDENTIFIER in place of the writer's, in the journal alone: whose words these are.
    package var identifier: JournalValue?
    /// What varies, in the order in which text shows it.
    package var fields: [(key: JournalField, value: JournalValue)]

    package init(
        _ kind: Kind = .audit,
        level: JournalLevel,
        message: JournalValue,
        messageID: JournalMessageID? = nil,
        identifier: JournalValue? = nil,
        fields: [(key: JournalField, value: JournalValue)] = []
    ) {
        self.kind = kind
        self.level = level
        self.message = message
        self.messageID = messageID
        self.identifier = identifier
        self.fields = fields
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.level == right.level && left.message == right.message
            && left.messageID == right.messageID && left.identifier == right.identifier
            && left.fields.elementsEqual(right.fields) { $0.key == $1.key && $0.value == $1.value }
    }

    /// Memory that it takes in the queue, about.
    var byteCount: Int {
        fields.reduce(128 + message.byteCount) { $0 + 48 + $1.value.byteCount }
    }
}
