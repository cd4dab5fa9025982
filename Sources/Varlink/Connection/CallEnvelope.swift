internal import JSON

/// What a frame says around the parameters of a call (varlink.org, Method Call).
struct CallEnvelope {
    var method: Int?
    var parameters: Int?
    var oneway = false
    var more = false
    var upgrade = false

    /// No method has a longer name, interface included.
    private static let nameBytesMax = 1024

    /// Reads the members of the outermost object; unknown ones are ignored, so that the protocol
    /// can grow.
    ///
    /// Absent, `null` and `false` are the same for flags.
    ///
    /// - Parameter isFrequent: whether it begins as a call of a frequent method.
    @inline(__always)
    init(_ view: JSONView, isFrequent: Bool) throws(ProtocolViolation) {
        guard view[0].has(.object) else { throw .notAnObject }
        let end = view[0].extent
        var key = 1
        if isFrequent {
            method = FrequentMethod.nameToken
            parameters = FrequentMethod.parametersToken
            key = view[FrequentMethod.parametersToken].extent
        }
        while key < end {
            try take(view, key: key)
            key = view[key &+ 1].next(after: key &+ 1)
        }
    }

    @inline(__always)
    private mutating func take(_ view: JSONView, key: Int) throws(ProtocolViolation) {
        let name = view[key]
        let value = view[key &+ 1]
        if view.matches(name, "method") {
            guard value.isString else { throw .wrongType("method") }
            method = key &+ 1
        } else if view.matches(name, "parameters") {
            guard value.has(.object) || value.has(.null) else {
                throw .wrongType("parameters")
            }
            parameters = value.has(.object) ? key &+ 1 : nil
        } else if view.matches(name, "oneway") {
            oneway = try CallEnvelope.flag(value, "oneway")
        } else if view.matches(name, "more") {
            more = try CallEnvelope.flag(value, "more")
        } else if view.matches(name, "upgrade") {
            upgrade = try CallEnvelope.flag(value, "upgrade")
        }
    }

    /// The value of a flag.
    static func flag(_ value: JSONToken, _ name: String) throws(ProtocolViolation) -> Bool {
        guard value.has(.bool) || value.has(.null) else { throw .wrongType(name) }
        return value.has(.bool) && value.extent == 4
    }

    /// Tells whether a name is an interface, a dot and a member.
    static func isQualified(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard name.count <= nameBytesMax, let dot = name.lastIndex(of: UInt8(ascii: ".")) else {
            return false
        }
        return dot > 0 && dot < name.count &- 1
    }
}
