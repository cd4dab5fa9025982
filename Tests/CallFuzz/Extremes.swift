internal import JSON
package import Varlink

/// Values at which programs go wrong, as JSON texts.
package enum Extremes {
    /// Numbers around the ends of machine words, around where these overflow once they are multiplied by a
    /// unit of time, and around the ranges that interfaces usually have.
    package static let integers: [Int] = {
        var found: Set<Int> = [0, 1, 2, 3, 19, 20, 100, 255, 1000, 4096, 86_400, 18_000_000]
        for bits in [7, 8, 15, 16, 20, 21, 22, 30, 31, 32, 53, 62] {
            for distance in -1...1 { found.insert(1 << bits + distance) }
        }
        for unit in units { found.formUnion(distances.map { Int.max / unit - $0 }) }
        for unit in units.dropFirst() { found.formUnion(distances.map { Int.max / unit + $0 }) }
        found.formUnion(found.map { 0 - $0 })
        return found.union([.min, .min + 1]).sorted()
    }()

    /// How much smaller each unit of time is than another.
    package static let units = [1, 1000, 1_000_000, 1_000_000_000, 60_000, 3_600_000, 86_400_000]

    private static let distances = [0, 1, 2, 3, 223, 224, 225, 999, 1000, 2000]

    /// Numbers that are no `Int`, or are written as few do.
    package static let odditiesOfNumbers = [
        "9223372036854775808", "-9223372036854775809", "18446744073709551616", "-0", "0.5", "1.0",
        "1e3", "1e18", "1e19", "9.223372036854775807e18", "9223372036854775807.0", "1e400",
        "1e-400", "123456789012345678901234567890",
    ]

    package static let texts: [String] = [
        "", " ", "a", "\u{0}", "\n", "\u{1B}[31m", "\u{7F}", "\u{202E}", "\u{FEFF}", "\u{FFFD}",
        "é",
        "e\u{301}", "\u{10FFFF}", "/", ".", "..", "../..", "/dev/full", "relative/path", "=", "a=b",
        "%s%n", "default", "unlimited", "SIGKILL", "SIGTERM", "sigterm", "SIGRTMIN+1", "running",
        "9", "-1", "null", long("x", 255), long("x", 256), long("é", 128), long("x", 1024),
        long("x", 1025), long("/a", 2048), long("x", 4097), long("\u{1}", 65_536),
        long("x", 131_072),
    ].map { JSONValue.string($0).text }

    /// Values of every type.
    package static let others = [
        "null", "true", "false", "0", "1.5", "\"text\"", "[]", "{}", "[null]", "{\"\":null}",
        long("[", 40) + long("]", 40), "[" + long("0,", 3000) + "0]",
        "{" + (0..<300).map { "\"key\($0)\":\"\"" }.joined(separator: ",") + "}",
    ]

    private static func long(_ piece: String, _ count: Int) -> String {
        String(repeating: piece, count: count)
    }

    /// What is put where a value of a type is expected.
    package static func values(of type: VarlinkType) -> [String] {
        switch type {
        case .int: integers.map(String.init) + odditiesOfNumbers + others
        case .float: odditiesOfNumbers + others
        case .string: texts + others
        case .enumeration(let members):
            members.map { "\"\($0)\"" } + texts.prefix(16) + ["\"\(members.joined())\""] + others
        case .array(let element): lists(of: element) + others
        case .map: maps + others
        default: others
        }
    }

    private static func lists(of element: VarlinkType) -> [String] {
        let usual = Usual.value(of: element, named: "")
        return [1, 2, 100, 5000].map { count in
            "[" + repeatElement(usual, count: count).joined(separator: ",") + "]"
        }
    }

    private static let maps = [
        #"{"":"a"}"#, #"{"A=B":"c"}"#, #"{"A":"\u0000"}"#, #"{"é":"x","e\u0301":"y"}"#,
        "{" + (0..<5000).map { "\"V\($0)\":\"\"" }.joined(separator: ",") + "}",
    ]
}
