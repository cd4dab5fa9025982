internal import BudgetCore
internal import LinuxSystem

/// A socket at which the tasks of one owner speak to the daemon, one task at a time.
///
/// The owner's processes and root can send to it, and a message is taken where one of them has sent it:
/// who was let in while it was theirs may have become somebody else.
final class NoticeSource {
    /// A task that says more than this waits in its own send.
    static let messagesPerSecondMax = 5000
    static let messageBytesMax = 4096

    let number: UInt64
    let owner: OwnerID
    let path: String
    let socket: NoticeSocket
    /// Whose it is now; what comes while it is nobody's is of no account.
    var task: TaskID?
    /// What its task has said and the core has not been told.
    private var notice = TaskNotice()
    private var rate = Rate(perSecondMax: NoticeSource.messagesPerSecondMax)

    init(number: UInt64, owner: OwnerID, path: String) throws(SystemError) {
        self.number = number
        self.owner = owner
        self.path = path
        socket = try NoticeSocket(path: path, user: owner.rawValue)
    }

    /// What one look at the socket found.
    enum Reading {
        case taken
        /// A message that is not taken, why, and from whom.
        case refused(String, sender: OwnerID)
        case nothing
    }

    /// Takes one message, if one waits.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Reading {
        let room = UnsafeMutableRawBufferPointer(
            rebasing: buffer.prefix(NoticeSource.messageBytesMax))
        let receipt = try socket.receive(into: room)
        if receipt != .nothing { rate.add(1) }
        switch receipt {
        case .nothing: return .nothing
        case .tooLong(let sender):
            return .refused(
                "it is longer than \(room.count) bytes", sender: OwnerID(rawValue: sender))
        case .message(let count, let sender):
            guard sender == owner.rawValue || sender == OwnerID.root.rawValue else {
                return .refused("the task is another user's", sender: OwnerID(rawValue: sender))
            }
            if task != nil { notice.add(TaskNotice(parsing: Array(room[..<count]))) }
            return .taken
        }
    }

    /// What the core is to be told now; `nil` where there is nothing.
    func takeNotice() -> TaskNotice? {
        guard !notice.isEmpty else { return nil }
        defer { notice = TaskNotice() }
        return notice
    }

    /// Until when it is to be left alone, because its task floods it.
    func restUntil(_ now: Instant) -> Instant? { rate.restUntil(now) }
}

/// What the daemon has of the sockets at which tasks speak to it.
struct Notices {
    /// Where the sockets are; `nil` where there can be none.
    var folder: NoticeFolder?
    /// Those that no task has, by owner.
    private var free: [OwnerID: [NoticeSource]] = [:]
    private var freeCount = 0
    private var numberLast = 0
    /// Those that were read in this turn.
    var heard: [NoticeSource] = []
    /// Turns in which some were read; the next begins with another of them.
    var turns = 0
    /// What the log takes of messages that are not taken.
    var drops = EntryAllowance(perSecondMax: 1)

    /// Free ones that are kept, so that starting a task takes no system call for its socket.
    static let freeMax = 64

    /// A free one, for a task to have.
    mutating func take(of owner: OwnerID) -> NoticeSource? {
        guard let source = free[owner]?.popLast() else { return nil }
        freeCount -= 1
        if free[owner]?.isEmpty == true { free[owner] = nil }
        return source
    }

    /// Keeps one for the owner's next task.
    ///
    /// - Returns: whether there was room for it.
    mutating func keep(_ source: NoticeSource) -> Bool {
        guard freeCount < Notices.freeMax else { return false }
        freeCount += 1
        free[source.owner, default: []].append(source)
        return true
    }

    /// Where the next new one may be.
    mutating func nextPath() -> String? {
        numberLast += 1
        return folder?.path(ofNumber: numberLast)
    }

    /// Lets go of all.
    mutating func removeAll() {
        free = [:]
        freeCount = 0
        heard = []
    }
}
