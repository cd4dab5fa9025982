/// The number of a background task; never used again, also across restarts (rule 1 in docs/architecture.md).
package struct TaskID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64

    /// The id of no task, as UIKit's `.invalid`: ending it is a no-op.
    package static let invalid = TaskID(rawValue: 0)

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static func < (lhs: TaskID, rhs: TaskID) -> Bool {
        lhs.rawValue < rhs.rawValue
    }

    package var description: String { String(rawValue) }
}

/// The user on whose behalf time is borrowed: the uid that the kernel reported for the peer.
@usableFromInline
package struct OwnerID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    @usableFromInline
    package let rawValue: UInt32

    package static let root = OwnerID(rawValue: 0)

    @inlinable
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    @inlinable
    package static func < (lhs: OwnerID, rhs: OwnerID) -> Bool {
        lhs.rawValue < rhs.rawValue
    }

    @usableFromInline
    package var description: String { String(rawValue) }
}

/// What a held task lives with: one connection, or one process. The shell numbers them.
package struct HolderID: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }
}

/// The kernel's number of a process.
package struct ProcessID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    package var description: String { String(rawValue) }
}

/// Who asks, as the kernel identified them.
package struct Caller: Hashable, Sendable {
    package let owner: OwnerID
    /// Whether this call may reach tasks of other owners; for operators who ask for it.
    package let seesAll: Bool

    package init(owner: OwnerID, seesAll: Bool = false) {
        self.owner = owner
        self.seesAll = seesAll
    }
}
