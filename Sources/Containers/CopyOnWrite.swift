/// A value beside its owner: copies share it until one of them changes it.
@usableFromInline
package struct CopyOnWrite<Value: Equatable & Sendable>: Equatable, Sendable {
    @usableFromInline
    var box: Box

    @usableFromInline
    final class Box: @unchecked Sendable {  // Changed only where nobody else has the box.
        @usableFromInline
        var value: Value

        @inlinable
        init(_ value: Value) {
            self.value = value
        }
    }

    @inlinable
    package init(_ value: Value) {
        box = Box(value)
    }

    @inlinable
    package var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }

    @inlinable
    package static func == (one: CopyOnWrite, other: CopyOnWrite) -> Bool {
        one.box === other.box || one.value == other.value
    }
}
