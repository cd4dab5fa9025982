/// A value beside its owner: copies share it until one of them changes it.
struct Shared<Value: Equatable & Sendable>: Equatable, Sendable {
    private var box: Box

    /// `@unchecked Sendable`: the value is changed only where nobody else has the box.
    private final class Box: @unchecked Sendable {
        var value: Value

        init(_ value: Value) {
            self.value = value
        }
    }

    init(_ value: Value) {
        box = Box(value)
    }

    var value: Value {
        _read { yield box.value }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box.value) }
            yield &box.value
        }
    }

    static func == (one: Shared, other: Shared) -> Bool {
        one.box === other.box || one.value == other.value
    }
}
