import JSON

/// A JSON text, which must mean the same when it is written again.
enum JSONTexts {
    static func run(_ bytes: [UInt8]) {
        guard let value = try? JSONDocument(parsing: bytes).value() else { return }
        let text = value.text
        guard let again = try? JSONDocument(parsing: text.utf8).value() else {
            preconditionFailure("what was written cannot be read: \(text)")
        }
        precondition(again == value, "what was written reads otherwise: \(text)")
    }
}
