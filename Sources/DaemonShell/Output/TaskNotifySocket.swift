package import BudgetCore
package import LinuxSystem

/// A socket at which the tasks of one owner speak to the daemon, one task at a time.
///
/// The owner's processes and root can send to it, and a message is taken where one of them has sent it:
/// who was let in while it was theirs may have become somebody else.
package final class TaskNotifySocket: DescriptorHandler {
    /// A task that says more than this waits in its own send.
    static let messagesPerSecondMax = 5000
    static let messageBytesMax = 4096

    /// Whose it is now.
    private enum User {
        /// What comes is of no account.
        case nobody
        /// A task whose begin is not told yet; what it says waits until then.
        case starting(TaskID)
        case started(TaskID)
    }

    let number: UInt64
    let owner: OwnerID
    private var socket: NotifySocket
    private var user = User.nobody
    private var registration: DescriptorPoll.Registration?
    /// Whether it is left alone.
    package private(set) var rests = false
    private var ready: (TaskNotifySocket) -> Void = { _ in }
    /// What its task has said and the core has not been told.
    private var notice = TaskNotice()
    private var rate = Rate(perSecondMax: TaskNotifySocket.messagesPerSecondMax)

    init(
        number: UInt64, owner: OwnerID, path: String, closer: any DescriptorCloser
    ) throws(SystemError) {
        self.number = number
        self.owner = owner
        socket = try NotifySocket(path: path, user: owner.rawValue, closer: closer)
    }

    /// One that an earlier daemon has made, for a task that has it still.
    init(
        number: UInt64, owner: OwnerID, _ descriptor: consuming OwnedDescriptor, of task: TaskID,
        closer: any DescriptorCloser
    ) throws(SystemError) {
        self.number = number
        self.owner = owner
        socket = try NotifySocket(bound: descriptor, user: owner.rawValue, closer: closer)
        user = .starting(task)
    }

    /// Where its task finds it.
    package var path: String { socket.path }

    /// For who keeps a second descriptor of it, by which it outlives this daemon.
    package var descriptor: Int32 { socket.descriptor }

    // MARK: - Whose it is

    /// The task that has it; `nil` where none has.
    package var task: TaskID? {
        switch user {
        case .nobody: nil
        case .starting(let id), .started(let id): id
        }
    }

    /// A task has it from now on.
    func give(to task: TaskID) { user = .starting(task) }

    /// Whether its task has it and has not begun, as far as was told.
    var isStarting: Bool { if case .starting = user { true } else { false } }

    /// The begin of its task has been told.
    func taskStarted() { if case .starting(let id) = user { user = .started(id) } }

    /// No task has it any more; what was said and not told is forgotten.
    func takeBack() {
        user = .nobody
        notice = TaskNotice()
    }

    // MARK: - When it is read

    package func ready(_ readiness: Readiness) { ready(self) }

    func follow(
        in poll: DescriptorPoll, ready: @escaping (TaskNotifySocket) -> Void
    ) throws(SystemError) {
        self.ready = ready
        registration = try poll.add(socket.descriptor, .input, self)
    }

    /// Leaves it alone for a time, or no longer.
    func setRests(_ rests: Bool, in poll: DescriptorPoll) throws(SystemError) {
        if let registration { try poll.modify(registration, rests ? [] : .input) }
        self.rests = rests
    }

    /// Leaves its path, and what waits in it, to the next daemon.
    package func leave() { socket.leavePath() }

    package func unfollow(in poll: DescriptorPoll) {
        if let registration { poll.remove(registration) }
        registration = nil
    }

    /// Whether something waits in it.
    package var hasMessage: Bool { socket.hasMessage }

    // MARK: - What is read

    /// What one look at the socket found.
    enum Reading {
        case taken
        /// A message that is not taken, why, and from whom.
        case refused(String, sender: OwnerID)
        case nothing
        /// A message with descriptors, which others have to take.
        case descriptor
    }

    /// Takes one message, if one waits.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> Reading {
        let room = UnsafeMutableRawBufferPointer(
            rebasing: buffer.prefix(TaskNotifySocket.messageBytesMax))
        return taken(try socket.receive(into: room), room)
    }

    /// A message was taken, whose text is in a buffer.
    func taken(_ receipt: NotifySocket.Receipt, _ text: UnsafeMutableRawBufferPointer) -> Reading {
        switch receipt {
        case .nothing: return .nothing
        case .descriptor: return .descriptor
        case .tooLong(let sender):
            rate.add(1)
            return .refused(
                "it is longer than \(Self.messageBytesMax) bytes",
                sender: OwnerID(rawValue: sender))
        case .message(let count, let sender):
            rate.add(1)
            guard sender == owner.rawValue || sender == OwnerID.root.rawValue else {
                return .refused("the task is another user's", sender: OwnerID(rawValue: sender))
            }
            if task != nil { notice.add(TaskNotice(parsing: Array(text[..<count]))) }
            return .taken
        }
    }

    /// What the core is to be told now, and of which task; `nil` where there is nothing.
    package func takeNotice() -> (task: TaskID, notice: TaskNotice)? {
        guard case .started(let id) = user, !notice.isEmpty else { return nil }
        defer { notice = TaskNotice() }
        return (id, notice)
    }

    /// Until when it is to be left alone, because its task floods it.
    func throttledUntil(_ now: Instant) -> Instant? { rate.restUntil(now) }
}
