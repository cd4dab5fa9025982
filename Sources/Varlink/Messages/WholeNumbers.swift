/// A whole number, none, or several: what a range can be given for.
@usableFromInline
package protocol WholeNumbers: FieldValue {
    /// Tells whether all of them are in a range.
    func areAll(in range: ClosedRange<Int>) -> Bool

    /// The error about the first that is not.
    func error(outside range: ClosedRange<Int>) -> MessageError
}

extension Int: WholeNumbers {
    /// Tells whether it is in a range.
    @inlinable
    package func areAll(in range: ClosedRange<Int>) -> Bool { range.contains(self) }

    /// That it is not.
    @usableFromInline
    package func error(outside range: ClosedRange<Int>) -> MessageError {
        MessageError(.outOfRange(range))
    }
}

extension Optional: WholeNumbers where Wrapped: WholeNumbers {
    /// Tells whether it is in a range, or not there.
    @inlinable
    package func areAll(in range: ClosedRange<Int>) -> Bool { self?.areAll(in: range) ?? true }

    /// That it is not.
    @usableFromInline
    package func error(outside range: ClosedRange<Int>) -> MessageError {
        self?.error(outside: range) ?? MessageError(.outOfRange(range))
    }
}

extension Array: WholeNumbers where Element: WholeNumbers {
    /// Tells whether all are in a range.
    @inlinable
    package func areAll(in range: ClosedRange<Int>) -> Bool {
        allSatisfy { $0.areAll(in: range) }
    }

    /// Which is not.
    @usableFromInline
    package func error(outside range: ClosedRange<Int>) -> MessageError {
        for (index, element) in enumerated() where !element.areAll(in: range) {
            return element.error(outside: range).inside(index: index)
        }
        return MessageError(.outOfRange(range))
    }
}

/// How many elements an array or a map may have in what a server is asked, and what the limit is called.
@usableFromInline
package struct CountLimit: Sendable, Equatable {
    /// The name, which a refusal says.
    package let name: String
    /// The most that there may be.
    package let max: Int

    /// Makes a limit.
    package init(_ name: String, max: Int) {
        self.name = name
        self.max = max
    }
}
