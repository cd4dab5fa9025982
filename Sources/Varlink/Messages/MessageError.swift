internal import JSON

/// Tells which parameter of a message is not as its type wants it, and why.
@usableFromInline
package struct MessageError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The path of the parameter, such as `budget.durationMs`, `command[2]` or `environment.PATH`;
    /// empty where the message as a whole is meant.
    package private(set) var parameter: String
    /// What is wrong with it.
    package let reason: Reason

    /// What can be wrong with a parameter.
    @usableFromInline
    package enum Reason: Sendable, Equatable {
        case missing
        case unknown
        case wrongType(expected: String)
        /// A number that is not in this range, or in none that a whole number can have.
        case outOfRange(ClosedRange<Int>? = nil)
        /// A name that is none of these.
        case notAMember(of: [String])
        case duplicate
        /// There are more of them than a limit allows.
        case tooMany(CountLimit)
    }

    /// How much of a name that the peer has chosen goes into a path.
    static let nameBytesMax = 64

    /// Makes an error about the value that is being read; the path grows on the way out.
    @usableFromInline
    package init(_ reason: Reason) {
        parameter = ""
        self.reason = reason
    }

    @usableFromInline
    init(missing name: StaticString) {
        self = MessageError(.missing).inside(name)
    }

    /// Makes an error about a named parameter.
    package init(_ parameter: String, _ reason: Reason) {
        self.parameter = parameter
        self.reason = reason
    }

    /// Makes an error about a number somewhere in the value that is being read.
    init(_ error: JSONRangeError) {
        self = error.steps.reduce(MessageError(.outOfRange())) { error, step in
            switch step {
            case .index(let index): error.inside(index: index)
            case .key(let key): error.inside(key)
            }
        }
    }

    /// The same error as seen from the structure around it.
    @usableFromInline
    func inside(_ name: StaticString) -> MessageError {
        name.withUTF8Buffer { inside(String(decoding: $0, as: UTF8.self)) }
    }

    /// The same error as seen from the map or structure around it.
    @usableFromInline
    func inside(_ name: String) -> MessageError {
        let name = MessageError.shortened(name)
        let separator = parameter.isEmpty || parameter.utf8.first == UInt8(ascii: "[") ? "" : "."
        return MessageError(name + separator + parameter, reason)
    }

    /// The same error as seen from the array around it.
    @usableFromInline
    func inside(index: Int) -> MessageError {
        let separator = parameter.isEmpty || parameter.utf8.first == UInt8(ascii: "[") ? "" : "."
        return MessageError("[\(index)]" + separator + parameter, reason)
    }

    /// A name cut to a length that is fit for an answer and a log; a mark follows where it was longer.
    static func shortened(_ name: String, to bytesMax: Int = nameBytesMax) -> String {
        guard name.utf8.count > bytesMax else { return name }
        var cut = ""
        var length = 0
        for scalar in name.unicodeScalars {
            length += UTF8.width(scalar)
            guard length <= bytesMax else { break }
            cut.unicodeScalars.append(scalar)
        }
        return cut + "…"
    }

    /// What is wrong with the parameter, or what it must be, behind its name.
    package var rule: String {
        switch reason {
        case .missing: "is missing"
        case .unknown: "is not known here"
        case .wrongType(let expected): "must be of type \(expected)"
        case .outOfRange(let range?): "must be from \(range.lowerBound) to \(range.upperBound)"
        case .outOfRange(nil): "is a number out of range"
        case .notAMember(let names): "must be one of \(names.joined(separator: ", "))"
        case .duplicate: "is given twice"
        case .tooMany(let limit): "has more than \(limit.name) (\(limit.max))"
        }
    }

    /// The parameter and the reason, for a log entry.
    @usableFromInline
    package var description: String {
        "\(parameter.isEmpty ? "parameters" : parameter): \(rule)"
    }
}
