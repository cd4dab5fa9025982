import JSON
import TestKit
import Varlink

extension Everything {
    /// A message of random values.
    static func random(using random: inout SeededGenerator) -> Everything {
        var message = Everything()
        message.bool = .random(using: &random)
        message.int = Int(truncatingIfNeeded: random.next())
        message.float = Double.random(in: -1e10...1e10, using: &random)
        message.string = .random(using: &random)
        message.color = Color.allCases.randomElement(using: &random) ?? .red
        message.maybe = Bool.random(using: &random) ? 3 : nil
        message.list = (0..<Int.random(in: 0..<5, using: &random)).map { _ in
            .random(using: &random)
        }
        for _ in 0..<Int.random(in: 0..<20, using: &random) {
            message.map[.random(using: &random)] = Int.random(in: -5...5, using: &random)
            message.set.members.insert(.random(using: &random))
        }
        message.inner.deep = Int.random(in: 0..<100, using: &random)
        message.inners = (0..<Int.random(in: 0..<4, using: &random)).map {
            Inner(deep: $0, deeper: Bottom(bottom: true))
        }
        message.object = .object([("free", .random(using: &random, depth: 5))])
        message.holes = Bool.random(using: &random) ? [nil, Inner()] : nil
        return message
    }
}

extension String {
    /// A short string of plain, escaped and multibyte characters.
    static func random(using random: inout SeededGenerator) -> String {
        let alphabet: [Character] = [
            "a", "b", "\"", "\\", "/", "\n", "\u{0}", "\u{1F}", "é", "€", "😀", "\u{7F}", " ",
        ]
        return String(
            (0..<Int.random(in: 0..<24, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? "a"
            }
        )
    }
}

extension JSONValue {
    /// A value of any type, nested up to `depth`.
    static func random(using random: inout SeededGenerator, depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(.random(using: &random))
        case 2: return .integer(Int(truncatingIfNeeded: random.next()))
        case 3: return .number(Double.random(in: -1...1, using: &random))
        case 4: return .string(.random(using: &random))
        case 5:
            return .array(
                (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                    .random(using: &random, depth: depth - 1)
                }
            )
        default:
            return .object(
                (0..<Int.random(in: 0..<12, using: &random)).map { index in
                    ("k\(index)", .random(using: &random, depth: depth - 1))
                }
            )
        }
    }
}
