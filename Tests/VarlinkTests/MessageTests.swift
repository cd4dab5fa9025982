import JSON
import Testing
import TestKit
import Varlink

@Suite("Messages")
struct MessageTests {
    @Test("every kind of field is read")
    func reading() throws {
        let message = try Everything.parsing(
            Everything.text(["maybe": "7", "holes": #"[null,{"deep":3,"deeper":{"bottom":true}}]"#])
        )
        #expect(message.bool && message.int == 1 && message.float == 1.5 && message.string == "s")
        #expect(message.color == .green && message.maybe == 7 && message.list == ["a", "b"])
        #expect(message.map == ["k": 1] && message.set == ["m"])
        #expect(message.inner == Inner(deep: 1, deeper: Bottom(bottom: true)))
        #expect(message.inners == [Inner(deep: 2, deeper: Bottom(bottom: false))])
        #expect(message.object == .object([("x", .null)]))
        #expect(message.holes == [nil, Inner(deep: 3, deeper: Bottom(bottom: true))])
    }

    @Test("fields come in any order, and what is written reads back")
    func order() throws {
        let message = try Everything.parsing(Everything.text(["bool": "false", "float": "2"]))
        #expect(!message.bool && message.float == 2)
        #expect(try Everything.parsing(message.text) == message)
    }

    @Test("a nullable field may be null or absent, and is left out when it has no value")
    func nullable() throws {
        let absent = try Everything.parsing(Everything.text())
        let null = try Everything.parsing(Everything.text(["maybe": "null", "holes": "null"]))
        #expect(absent == null && absent.maybe == nil)
        #expect(!absent.text.contains("maybe") && !absent.text.contains("holes"))
    }

    @Test("keys of maps and members of sets are written in sorted order")
    func sorted() {
        let map = One(["b": 2, "a": 1, "c": 3])
        #expect(map.text == #"{"value":{"a":1,"b":2,"c":3}}"#)
        #expect(One<StringSet>(["y", "x"]).text == #"{"value":{"x":{},"y":{}}}"#)
    }

    @Test("strings are escaped where they have to be and nowhere else")
    func escapes() {
        let text = "a\"b\\c/d\u{8}\t\n\u{C}\r\u{1}\u{1F}\u{7F}é😀"
        #expect(
            One(text).text
                == #"{"value":"a\"b\\c/d\b\t\n\f\r\u0001\u001f"# + "\u{7F}é😀\"}"
        )
    }

    static let wrongTexts: [([String: String?], MessageError)] = [
        (["bool": "1"], .init("bool", .wrongType(expected: "bool"))),
        (["bool": "null"], .init("bool", .wrongType(expected: "bool"))),
        (["int": #""1""#], .init("int", .wrongType(expected: "int"))),
        (["int": "1.5"], .init("int", .wrongType(expected: "int"))),
        (["int": "1e30"], .init("int", .outOfRange())),
        (["int": "true"], .init("int", .wrongType(expected: "int"))),
        (["float": #""1.0""#], .init("float", .wrongType(expected: "float"))),
        (["float": "1e999"], .init("float", .outOfRange())),
        (["string": "1"], .init("string", .wrongType(expected: "string"))),
        (["string": "null"], .init("string", .wrongType(expected: "string"))),
        (
            ["color": #""pink""#],
            .init("color", .notAMember(of: ["red", "green", "blue", "Kelvin"]))
        ),
        (["color": #""""#], .init("color", .notAMember(of: ["red", "green", "blue", "Kelvin"]))),
        (
            ["color": "\"\u{212A}elvin\""],
            .init("color", .notAMember(of: ["red", "green", "blue", "Kelvin"]))
        ),
        (["color": "1"], .init("color", .wrongType(expected: "string"))),
        (["maybe": "[]"], .init("maybe", .wrongType(expected: "int"))),
        (["list": #""a""#], .init("list", .wrongType(expected: "array"))),
        (["list": #"["a","b",3]"#], .init("list[2]", .wrongType(expected: "string"))),
        (["list": #"["a",null]"#], .init("list[1]", .wrongType(expected: "string"))),
        (["map": "[]"], .init("map", .wrongType(expected: "map"))),
        (["map": #"{"a":1,"b":"2"}"#], .init("map.b", .wrongType(expected: "int"))),
        (["map": "{\"\u{E9}\":1,\"e\u{301}\":2}"], .init("map.é", .duplicate)),
        (["set": "[]"], .init("set", .wrongType(expected: "map"))),
        (["set": #"{"a":1}"#], .init("set.a", .wrongType(expected: "object"))),
        (["set": #"{"a":{"b":1}}"#], .init("set.a.b", .unknown)),
        (["inner": "[]"], .init("inner", .wrongType(expected: "object"))),
        (["inner": "null"], .init("inner", .wrongType(expected: "object"))),
        (["inner": #"{"deep":1}"#], .init("inner.deeper", .missing)),
        (
            ["inner": #"{"deep":1,"deeper":{"bottom":2}}"#],
            .init("inner.deeper.bottom", .wrongType(expected: "bool"))
        ),
        (
            ["inner": #"{"deep":1,"deeper":{"bottom":true,"x":1}}"#],
            .init("inner.deeper.x", .unknown)
        ),
        (
            ["inners": #"[{"deep":1,"deeper":{"bottom":true}},{"deep":"1"}]"#],
            .init("inners[1].deep", .wrongType(expected: "int"))
        ),
        (["object": "[]"], .init("object", .wrongType(expected: "object"))),
        (["object": #"{"a":[0,{"b":1e400}]}"#], .init("object.a[1].b", .outOfRange())),
        (["holes": "[null,1]"], .init("holes[1]", .wrongType(expected: "object"))),
        (["extra": "1"], .init("extra", .unknown)),
        (["bool": nil], .init("bool", .missing)), (["int": nil], .init("int", .missing)),
        (["color": nil], .init("color", .missing)), (["list": nil], .init("list", .missing)),
        (["map": nil], .init("map", .missing)), (["set": nil], .init("set", .missing)),
        (["inner": nil], .init("inner", .missing)), (["object": nil], .init("object", .missing)),
    ]

    @Test("a parameter that is not of its type is named with its path", arguments: wrongTexts)
    func wrongTypes(changes: [String: String?], error: MessageError) {
        #expect(throws: error) { try Everything.parsing(Everything.text(changes)) }
    }

    @Test("a long name that the peer has chosen is cut in the error")
    func longName() throws {
        let name = String(repeating: "é", count: 1000)
        let error = #expect(throws: MessageError.self) {
            try Everything.parsing(Everything.text([name: "1"]))
        }
        #expect((error?.parameter.utf8.count ?? 99) < 80)
    }

    @Test("a client ignores what it does not know")
    func lenient() throws {
        var client = ClientConnection()
        client.call("a.B", Empty())
        try client.receive(
            frame(#"{"parameters":{"bottom":true,"later":[1]},"later":{"x":1}}"#)
        )
        let reply = try #require(try client.nextReply())
        #expect(try reply.decode(Bottom.self).bottom)
    }

    @Test(
        "messages of random values read back as they were written",
        arguments: 1...Effort.choose(200))
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let message = Everything.random(using: &random)
        #expect(try Everything.parsing(message.text) == message, "seed \(seed)")
    }
}
