/// How texts begin that come often, up to a key, and what a parser has of them by then; such a
/// beginning is compared instead of parsed.
package final class JSONStart: Sendable {
    /// The bytes, with the quote of the key.
    package let text: [UInt8]
    /// The tokens before the key. All objects among them are open, each in the one before it, and the last
    /// token is the innermost.
    let tokens: [JSONToken]
    /// How many objects that are.
    package let depth: Int

    /// Makes a beginning.
    package init(_ text: String, _ tokens: [JSONToken], depth: Int) {
        self.text = Array(text.utf8)
        self.tokens = tokens
        self.depth = depth
    }
}
