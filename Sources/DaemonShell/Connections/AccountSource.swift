internal import BudgetCore
package import LinuxSystem

/// Whose account each owner is charged to, as /etc/subuid says.
///
/// The file is read on a thread, since it names users, and the database of those may take its time. Until that
/// is done what was known before holds; in the beginning everybody has an account of their own.
package final class AccountSource {
    /// What the thread has found out.
    private final class Reading: Sendable {
        let accounts = LockedState<Accounts?>(nil)
        let done: OwnedDescriptor

        init() throws(SystemError) {
            done = try .event()
        }
    }

    private(set) var accounts = Accounts()
    private let path: String?
    private let reading: Reading
    private var stamp: SubordinateIDs.Stamp?
    private var isReading = false
    private var looksAgainAt: Instant?

    /// Readable when accounts have been read.
    var descriptor: Int32 { reading.done.rawValue }

    /// Reads the file, and waits a little for it.
    ///
    /// - Parameter path: `nil`: there is one user alone.
    package init(path: String?) throws(SystemError) {
        self.path = path
        reading = try Reading()
        readIfChanged()
        if isReading, reading.done.waitReadable(milliseconds: AccountSource.startMilliseconds) {
            _ = take()
        }
    }

    /// Takes what was read.
    ///
    /// - Returns: whether accounts are others now.
    func take() -> Bool {
        reading.done.takeEvents()
        guard let read = reading.accounts.withLock({ $0.take() }) else { return false }
        isReading = false
        defer { accounts = read }
        return accounts != read
    }

    /// Somebody has come who has an account of their own: perhaps only since the file was read. Looked at once
    /// a second at most.
    func stranger(at now: Instant) {
        if let looksAgainAt, now < looksAgainAt { return }
        looksAgainAt = now + .seconds(1)
        readIfChanged()
    }

    /// Has the file read where it is another than that which was read last.
    func readIfChanged() {
        guard let path, !isReading else { return }
        let present = SubordinateIDs.Stamp(path: path)
        guard present != stamp else { return }
        do {
            try startThread { [reading] in
                let ranges = SubordinateIDs(path: path).ranges
                let accounts = Accounts(
                    ranges.map { Accounts.Grant(uids: $0.uids, user: OwnerID(rawValue: $0.user)) })
                reading.accounts.withLock { $0 = accounts }
                reading.done.countEvent()
            }
            (isReading, stamp) = (true, present)
        } catch {
            // Without a thread what was known holds; the next stranger has it tried again.
            return
        }
    }

    /// How long a start waits for the user database.
    private static let startMilliseconds: Int32 = 2000
}
