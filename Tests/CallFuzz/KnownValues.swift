package import JSON
internal import Varlink

/// Ids that answers had, so that later calls reach what there is.
package struct KnownValues: Sendable {
    private var numbers: [Int] = []
    private var next = 0

    /// Applications have one of these names, so that they meet again.
    package static let applications = (1...6).map { "org.example.fuzzed\($0)" }
    /// So do tasks.
    package static let names = ["fuzzed", "one", "two", "three"]

    private static let keptMax = 64

    package init() {}

    /// The ids, none of them in a certain order.
    package var all: [Int] { numbers }

    /// Keeps an id, in the place of the oldest.
    package mutating func add(_ number: Int) {
        if numbers.count < KnownValues.keptMax {
            numbers.append(number)
        } else {
            numbers[next] = number
            next = (next + 1) % KnownValues.keptMax
        }
    }

    /// Keeps the ids of an answer.
    package mutating func add(of answer: JSONValue) {
        switch answer {
        case .object(let members):
            for (name, value) in members {
                if case .integer(let number) = value, name == "id" || name == "deliveryId" {
                    if !numbers.contains(number) { add(number) }
                } else {
                    add(of: value)
                }
            }
        case .array(let elements): for element in elements.prefix(8) { add(of: element) }
        default: break
        }
    }

    /// One of the ids, if there is any.
    func number(using random: inout some RandomNumberGenerator) -> Int? {
        numbers.randomElement(using: &random)
    }
}
