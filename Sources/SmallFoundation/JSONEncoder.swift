/// Writes a value as JSON text, the members of an object sorted and one a line, as Foundation's encoder does
/// when it is asked for that; it writes in no other way.
public final class JSONEncoder {
    /// Accepted and not looked at.
    public var outputFormatting: OutputFormatting = []

    /// The two of Foundation's that are always in force here.
    public struct OutputFormatting: OptionSet, Sendable {
        /// A member or an element a line.
        public static let prettyPrinted = OutputFormatting(rawValue: 1)
        /// The members of an object by name.
        public static let sortedKeys = OutputFormatting(rawValue: 2)

        /// A bit an option.
        public let rawValue: UInt

        /// - Parameter rawValue: the sum of the options' bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }
    }

    /// Makes an encoder, which may write any number of values.
    public init() {}

    /// - Returns: the value as text.
    /// - Throws: what the value itself throws.
    public func encode<T: Encodable>(_ value: T) throws -> Data {
        let node = Node()
        try node.take(value)
        return Data(text: node.text(indent: ""))
    }
}

/// What the encoder has written.
public struct Data: Sendable {
    let text: String
}

extension String {
    /// How an encoder's text lies in its data.
    public enum Encoding: Sendable {
        /// The one way there is.
        case utf8
    }

    /// Takes the text out of what the encoder has written; never `nil`.
    public init?(data: Data, encoding: Encoding) {
        self = data.text
    }
}

/// An error that describes itself, for which swift-argument-parser asks before it prints one.
public protocol LocalizedError: Error {
    /// What a user reads; `nil` where there is nothing better than the error's own words.
    var errorDescription: String? { get }
}
