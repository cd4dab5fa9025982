import JSON
import Testing

@Suite("JSON writer")
struct JSONWriterTests {
    @Test("a byte that needs an escape gets one wherever it is in a text")
    func escapesAnywhere() {
        let others: [Character] = ["a", "\u{7f}", "é", "!", "#", "[", "]", " "]
        for length in 0..<40 {
            for position in 0...length {
                for special in ["\"", "\\", "\n", "\u{1f}", "\u{0}"] {
                    let before = String((0..<position).map { others[$0 % others.count] })
                    let after = String((position..<length).map { others[$0 % others.count] })
                    let text = before + special + after
                    #expect(written { $0.string(text) } == slowlyEscaped(text))
                    let plain = before + after
                    #expect(written { $0.string(plain) } == "\"" + plain + "\"")
                }
            }
        }
    }

    @Test("whole numbers of each length are what they are", arguments: [1, -1])
    func integers(sign: Int) {
        var number = 9
        for _ in 1..<18 {
            for near in [number - 1, number, number + 1] {
                #expect(written { $0.integer(sign * near) } == String(sign * near))
            }
            number = 10 * number + 9
        }
        for extreme in [Int.min, Int.max, 0] {
            #expect(written { $0.integer(extreme) } == String(extreme))
        }
    }

    @Test("what is written stays as it was while the memory grows")
    func growth() {
        var writer = JSONWriter()
        var expected = "["
        writer.beginArray()
        for number in 0..<20_000 {
            writer.element()
            writer.integer(number)
            expected += (number == 0 ? "" : ",") + String(number)
        }
        writer.endArray()
        #expect(writer.text == expected + "]")
        #expect(writer.bytes.elementsEqual((expected + "]").utf8))
    }

    @Test("a copy of a writer goes on by itself")
    func copies() {
        var one = JSONWriter()
        one.beginObject()
        one.key("a" as StaticString)
        var other = one
        one.integer(1)
        one.endObject()
        other.string("x")
        other.key("b")
        other.null()
        other.endObject()
        #expect(one.text == #"{"a":1}"#)
        #expect(other.text == #"{"a":"x","b":null}"#)
    }

    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return writer.text
    }

    private func slowlyEscaped(_ text: String) -> String {
        var escaped = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": escaped += "\\\""
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\u{0}": escaped += "\\u0000"
            case "\u{1f}": escaped += "\\u001f"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped + "\""
    }
}
