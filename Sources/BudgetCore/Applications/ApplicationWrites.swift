/// What the disk has of an application's record, and what is on its way there.
struct ApplicationWrites: Sendable {
    enum Purpose: Equatable, Sendable {
        /// Nobody waits for it.
        case record
        case registration(UInt64)
        case badge(UInt64)
        case adoption(UInt64)
        /// The run that has ended is over with it.
        case end
    }

    private struct Save: Sendable {
        let purpose: Purpose
        let record: ApplicationRecord
    }

    /// What the disk has; `nil` before the first time.
    private(set) var saved: ApplicationRecord?
    /// Writes that are on their way to the disk, the oldest first.
    private var saves: [Save] = []
    /// What the disk refused of orders, and the record has still.
    private var refusedRegistration = false
    private var refusedBadge = false
    /// Whether the disk did not take its record, which it gets when it can write again.
    private(set) var isUnsaved = false

    /// Writes on their way to the disk; what comes then is in the next.
    private static let savesMax = 2

    init(saved: ApplicationRecord? = nil) {
        self.saved = saved
    }

    var isPending: Bool { !saves.isEmpty }

    /// - Returns: whether it is to be written now; where not, it comes with the next write.
    mutating func add(_ purpose: Purpose, _ record: ApplicationRecord) -> Bool {
        if purpose == .record, saves.count >= ApplicationWrites.savesMax {
            isUnsaved = true
            return false
        }
        isUnsaved = false
        saves.append(Save(purpose: purpose, record: record))
        return true
    }

    /// The oldest write is on disk, or is refused by it: where an order asked for it, what that changed is taken
    /// back.
    ///
    /// - Returns: what it was for; `nil` where none was on its way.
    mutating func answered(isRefused: Bool) -> Purpose? {
        guard !saves.isEmpty else { return nil }
        let save = saves.removeFirst()
        guard isRefused else {
            saved = save.record
            (refusedRegistration, refusedBadge) = (false, false)
            return save.purpose
        }
        switch save.purpose {
        case .registration: refusedRegistration = true
        case .badge: refusedBadge = true
        case .record, .adoption, .end: break
        }
        return save.purpose
    }

    /// What refused orders changed, as it was before; not before the writes that carry the same record are
    /// answered, since one of them may bring the change to the disk all the same.
    ///
    /// - Returns: `nil` where that is not known.
    mutating func takeRefused() -> (registration: Registration?, badge: Int?)? {
        guard let saved, saves.isEmpty else { return nil }
        defer { (refusedRegistration, refusedBadge) = (false, false) }
        return (
            refusedRegistration ? saved.registration : nil, refusedBadge ? saved.badge : nil
        )
    }

    /// Whether the disk has this record is looked at anew.
    mutating func compare(_ record: ApplicationRecord) { isUnsaved = record != saved }

    /// The record is another than the one that was to be written, where the disk has one.
    mutating func markUnsaved() { isUnsaved = saved != nil }
}
