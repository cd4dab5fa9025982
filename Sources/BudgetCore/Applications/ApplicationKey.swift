/// An application is known by its owner and the id that the owner gave it.
package struct ApplicationKey: Hashable, Comparable, Sendable {
    package let owner: OwnerID
    package let id: String

    package init(owner: OwnerID, id: String) {
        self.owner = owner
        self.id = id
    }

    /// The application whose time a task shares; `nil` where it shares none.
    init?(_ task: BackgroundTask) {
        guard task.hasApplication, let id = task.application else { return nil }
        self.init(owner: task.owner, id: id)
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
