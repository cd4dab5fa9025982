import TaskAPI
import TestKit
import Testing

@Suite("Bytes as text (RFC 4648)")
struct Base64Tests {
    @Test(
        "the examples of section 10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ])
    func examples(text: String, encoded: String) {
        #expect(Base64.encode(Array(text.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(text.utf8))
    }

    @Test("any bytes come back", arguments: 0..<50)
    func roundTrip(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<Int.random(in: 0...100, using: &random)).map { _ in
            UInt8.random(in: 0...255, using: &random)
        }
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }

    @Test(
        "what is no encoding is refused",
        arguments: ["Z", "Zg", "Zg=", "Z===", "====", "Zh==", "Zm9=", "Zm 9", "Zg==Zg==", "Zé=="])
    func refused(text: String) {
        #expect(Base64.decode(text) == nil)
    }
}
