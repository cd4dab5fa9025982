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

/// An application is known by its owner and the id that the owner gave it.
package struct ApplicationKey: Hashable, Comparable, Sendable {
    package let owner: OwnerID
    package let id: String

    package init(owner: OwnerID, id: String) {
        self.owner = owner
        self.id = id
    }

    /// By the bytes of the id, as on disk: strings are equal also where Unicode takes one for the other.
    package static func == (lhs: ApplicationKey, rhs: ApplicationKey) -> Bool {
        lhs.owner == rhs.owner && lhs.id.utf8.elementsEqual(rhs.id.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(owner)
        var id = id
        id.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    package static func < (lhs: ApplicationKey, rhs: ApplicationKey) -> Bool {
        lhs.owner != rhs.owner
            ? lhs.owner < rhs.owner : lhs.id.utf8.lexicographicallyPrecedes(rhs.id.utf8)
    }
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
