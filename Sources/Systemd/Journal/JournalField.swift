/// The names of all fields that we write: the one place where they are spelled.
///
/// Documented for readers in systemd.journal-fields(7) and in bgtaskd(8), JOURNAL.
package enum JournalField: Hashable, Sendable {
    case message
    case messageID
    case priority
    case syslogIdentifier
    /// The number of errno(3), where an operation failed.
    case errno

    case taskID
    case taskName
    /// Where a task printed a line: stdout or stderr.
    case stream
    case application
    /// The group whose slots a task takes.
    case group
    /// Of a task that is tried again, from 1.
    case attempt
    /// The uid of the owner.
    case owner
    /// The uid of the operator who gave an order.
    case `operator`
    case state
    case outcome
    /// Granted time, in µs.
    case budget
    /// Time from begin to end, in µs.
    case used
    /// What the processes of a task used of the processors, in µs.
    case cpu
    /// The most memory that they held at one time, in bytes.
    case memoryPeak
    case exitStatus
    case signal
    case reason
    /// How many of our own entries found no room: audit entries.
    case lostAudit
    /// How many of our own entries found no room: output of tasks.
    case lostOutput

    /// How many processes.
    case count
    /// The pid of the client.
    case peerProcessID
    /// A level of the log.
    case level
    /// Keys of settings that a reload changed.
    case changed
    /// Keys of settings that only a restart changes.
    case needRestart
    /// Whom the daemon serves: system or user.
    case scope
    /// The path that it listens at.
    case socket
    case stateDirectory
    /// How processes are kept together.
    case containment
    /// A unit of the service manager.
    case unit

    /// Anything else: metadata of a log statement.
    case metadata(JournalFieldName)

    /// The name in the journal.
    package var name: String {
        switch self {
        case .message: "MESSAGE"
        case .messageID: "MESSAGE_ID"
        case .priority: "PRIORITY"
        case .syslogIdentifier: "SYSLOG_IDENTIFIER"
        case .errno: "ERRNO"
        case .taskID: "BGTASK_ID"
        case .taskName: "BGTASK_NAME"
        case .stream: "BGTASK_STREAM"
        case .application: "BGTASK_APPLICATION"
        case .group: "BGTASK_GROUP"
        case .attempt: "BGTASK_ATTEMPT"
        case .owner: "BGTASK_OWNER"
        case .operator: "BGTASK_OPERATOR"
        case .state: "BGTASK_STATE"
        case .outcome: "BGTASK_OUTCOME"
        case .budget: "BGTASK_BUDGET_USEC"
        case .used: "BGTASK_USED_USEC"
        case .cpu: "BGTASK_CPU_USEC"
        case .memoryPeak: "BGTASK_MEMORY_PEAK_BYTES"
        case .exitStatus: "BGTASK_EXIT_STATUS"
        case .signal: "BGTASK_SIGNAL"
        case .reason: "BGTASK_REASON"
        case .lostAudit: "BGTASK_LOST_AUDIT"
        case .lostOutput: "BGTASK_LOST_OUTPUT"
        case .count: "BGTASK_COUNT"
        case .peerProcessID: "BGTASK_PEER_PID"
        case .level: "BGTASK_LEVEL"
        case .changed: "BGTASK_CHANGED"
        case .needRestart: "BGTASK_NEED_RESTART"
        case .scope: "BGTASK_SCOPE"
        case .socket: "BGTASK_SOCKET"
        case .stateDirectory: "BGTASK_STATE_DIRECTORY"
        case .containment: "BGTASK_CONTAINMENT"
        case .unit: "BGTASK_UNIT"
        case .metadata(let name): name.rawValue
        }
    }
}

/// A name that journald takes: 1 to 64 capitals, digits and underscores, a capital first.
///
/// From systemd.journal-fields(7): a leading underscore is journald's own, and what breaks the
/// rule is dropped there without a word.
package struct JournalFieldName: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    private static let prefix = "BGTASK_"
    private static let lengthMax = 64

    /// - Returns: `nil` where journald would drop a field of this name.
    package init?(rawValue: String) {
        let bytes = rawValue.utf8
        guard let first = bytes.first, Self.isCapital(first) else { return nil }
        guard bytes.count <= Self.lengthMax, bytes.allSatisfy(Self.isAllowed) else { return nil }
        self.rawValue = rawValue
    }

    /// A name for any key: "retry-after" becomes `BGTASK_RETRY_AFTER`.
    ///
    /// The prefix keeps keys off the names that mean something to journald; keys that have it keep
    /// it once. Other characters become underscores, and what is too long is cut.
    package init(key: String) {
        let capitals = key.utf8.map { byte in
            let capital = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte - 32 : byte
            return Self.isAllowed(capital) ? capital : UInt8(ascii: "_")
        }
        let name = String(decoding: capitals, as: UTF8.self)
        let prefixed = name.hasPrefix(Self.prefix) ? name : Self.prefix + name
        rawValue = String(prefixed.prefix(Self.lengthMax))
    }

    private static func isCapital(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        isCapital(byte) || byte == UInt8(ascii: "_")
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
