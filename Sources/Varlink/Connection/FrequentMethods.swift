internal import Glibc
internal import JSON

/// Methods that are called often, and how a call of one begins where its client writes no white space and the
/// method first (varlink.org, Method Call); others are parsed from their first byte on.
package struct FrequentMethods: Sendable {
    private let methods: [FrequentMethod]

    /// Makes a list of methods, the most frequent first: names as they stand in an interface, with it.
    package init(_ names: [String]) { methods = names.map(FrequentMethod.init) }

    /// The method whose call a frame begins with.
    func method(of bytes: [UInt8], _ frame: Range<Int>) -> FrequentMethod? {
        bytes.withUnsafeBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return nil }
            for method in methods where method.start.text.count <= frame.count {
                let isSame = method.start.text.withUnsafeBufferPointer { text in
                    memcmp(text.baseAddress ?? base, base + frame.lowerBound, text.count) == 0
                }
                if isSame { return method }
            }
            return nil
        }
    }
}

/// A method that is called often, with the beginning `{"method":"NAME","parameters":{"`.
final class FrequentMethod: Sendable {
    /// The name, of which a call has this very string: it can be told from it without a look at its bytes.
    let name: String
    let start: JSONStart

    /// The tokens of the name and of the parameters.
    static let nameToken = 2
    static let parametersToken = 4

    init(_ name: String) {
        self.name = name
        let length = name.utf8.count
        start = JSONStart(
            "{\"method\":\"\(name)\",\"parameters\":{\"",
            [
                JSONToken(.object, at: 0, extent: 0),
                JSONToken(.plainString, at: 2, extent: 6),
                JSONToken(.plainString, at: 11, extent: length),
                JSONToken(.plainString, at: length + 14, extent: 10),
                JSONToken(.object, at: length + 26, extent: 0),
            ], depth: 2)
    }
}
