internal import BudgetCore

/// The words in the database, which must never change their meaning.
extension Conditions {
    private static let known: [(word: String, condition: Conditions)] = [
        ("network", .network), ("externalPower", .externalPower), ("idle", .idle),
    ]

    var words: [String] {
        isEmpty ? [] : Conditions.known.filter { contains($0.condition) }.map(\.word)
    }

    /// - Returns: `nil` where a word is not known.
    init?(words: [String]) {
        self = []
        for word in words {
            guard let known = Conditions.known.first(where: { $0.word == word }) else { return nil }
            insert(known.condition)
        }
    }
}

/// The words in the database, which must never change their meaning.
extension Uniqueness {
    var word: String {
        switch self {
        case .keep: "keep"
        case .replace: "replace"
        case .replaceQueued: "replaceQueued"
        }
    }

    init?(word: String) {
        switch word {
        case "keep": self = .keep
        case "replace": self = .replace
        case "replaceQueued": self = .replaceQueued
        default: return nil
        }
    }
}
