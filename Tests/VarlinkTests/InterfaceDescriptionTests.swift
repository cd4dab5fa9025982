import Testing
import Varlink

@Suite("Interface descriptions")
struct InterfaceDescriptionTests {
    private static let text = """
        # Things.
        # And more.
        interface org.example.things-1.x

        # A pair.
        type Pair (first: int, second: ?string)

        type Color (red, green)
        type Tree (value: any, children: []Tree)
        # Not about anything.

        # Does it.
        method Do(
          pairs: []Pair, # a list
          names: ?[string]?Color,
          set: [string](),
          inline: (a: float, b: (one, two)),
          free: object
        ) -> ()
        method Nothing() -> (ok: bool)

        error Failed (why: string)
        """

    @Test("types, methods, errors and comments are read")
    func reading() throws {
        let description = try InterfaceDescription(parsing: Self.text)
        #expect(description.name == "org.example.things-1.x")
        #expect(description.documentation == "Things.\nAnd more.")
        #expect(description.types.map(\.name) == ["Pair", "Color", "Tree"])
        #expect(description.types[0].documentation == "A pair.")
        #expect(description.methods.map(\.name) == ["Do", "Nothing"])
        #expect(description.method("Do")?.documentation == "Does it.")
        #expect(description.error("Failed") == .structure([.init("why", .string)]))
        let input = try #require(description.method("Do")?.input)
        #expect(
            input.text == "(pairs: []Pair, names: ?[string]?Color, set: [string](), "
                + "inline: (a: float, b: (one, two)), free: object)"
        )
        #expect(
            description.resolved(input).text.hasPrefix(
                "(pairs: [](first: int, second: ?string), names: ?[string]?(red, green)"
            )
        )
        let tree = try #require(description.type("Tree"))
        #expect(description.resolved(.named("Tree")).text == tree.text)
    }

    static let wrongTexts: [(String, Int, Int, String)] = [
        ("", 1, 1, "expected 'interface'"),
        ("interface", 1, 10, "expected the interface name"),
        ("interface a", 1, 11, "expected the interface name"),
        ("interface a..b", 1, 11, "expected the interface name"),
        ("interface a.b-", 1, 11, "expected the interface name"),
        ("interface 1a.b", 1, 11, "expected the interface name"),
        ("interface a.b\nfoo", 2, 1, "expected 'type', 'method' or 'error'"),
        ("interface a.b\ntype lower ()", 2, 6, "expected the name of a type, method or error"),
        ("interface a.b\ntype A (b: int,)", 2, 16, "expected the field name"),
        ("interface a.b\ntype A (b_: int)", 2, 9, "expected the field name"),
        ("interface a.b\ntype A (b__c: int)", 2, 9, "expected the field name"),
        ("interface a.b\ntype A (1b: int)", 2, 9, "expected the field name"),
        ("interface a.b\ntype A (b: int, c)", 2, 18, "expected ':'"),
        ("interface a.b\ntype A (b, c: int)", 2, 13, "expected ')'"),
        ("interface a.b\ntype A (b: ??int)", 2, 12, "'?' twice"),
        ("interface a.b\ntype A (b: integer)", 2, 12, "expected '('"),
        ("interface a.b\ntype A (b: Missing)", 2, 12, "no type is named Missing"),
        ("interface a.b\ntype A (b: int, b: int)", 2, 17, "b is named twice"),
        ("interface a.b\ntype A (x, y, x)", 2, 15, "x is named twice"),
        ("interface a.b\ntype A ()\n\nerror A ()", 4, 7, "A is defined twice"),
        ("interface a.b\nmethod A() ()", 2, 12, "expected '->'"),
        ("interface a.b\nmethod A(x, y) -> ()", 2, 9, "expected fields with types"),
        ("interface a.b\nerror A (x)", 2, 9, "expected fields with types"),
        ("interface a.b\ntype A (b: int", 2, 15, "expected ')'"),
        ("interface a.b\ntype A (b:", 2, 11, "expected a type"),
    ]

    @Test("a text that is wrong is refused with line and column", arguments: wrongTexts)
    func wrong(text: String, line: Int, column: Int, reason: String) {
        let error = #expect(throws: InterfaceError.self) {
            try InterfaceDescription(parsing: text)
        }
        #expect(error?.description == "\(line):\(column): \(reason)")
    }

    @Test("types that nest without end are refused")
    func depth() {
        for part in ["[]", "[string]", "?[]", "(a: "] {
            let text = "interface a.b\ntype A (b: " + String(repeating: part, count: 100_000)
            #expect(throws: InterfaceError.self) { try InterfaceDescription(parsing: text) }
        }
    }

    @Test("messages are checked against the text: names, types, nullability, nesting, in any order")
    func differences() throws {
        let text = """
            interface org.example
            type Leaf (bottom: bool)
            type Twig (deeper: Leaf, deep: int)
            type Color (red, green, blue, Kelvin)
            method Right(bottom: bool) -> (deeper: (bottom: bool), deep: int)
            method Wrong(bottom: ?bool) -> (deeper: (bottom: int), extra: string)
            error Failed (number: int)
            """
        let description = try InterfaceDescription(parsing: text)
        #expect(description.differences(of: Right.self) == [])
        #expect(
            description.differences(of: Wrong.self) == [
                "org.example.Wrong input, bottom: bool in code, ?bool in the text",
                "org.example.Wrong output, deep: int in code, nothing in the text",
                "org.example.Wrong output, deeper: (bottom: bool) in code, (bottom: int) in the text",
                "org.example.Wrong output, extra: nothing in code, string in the text",
            ]
        )
        #expect(description.differences(ofType: "Color", Color.self) == [])
        #expect(description.differences(ofType: "Twig", Inner.self) == [])
        #expect(description.differences(ofType: "Leaf", Color.self).count == 1)
        #expect(description.differences(ofError: "org.example.Failed", Number.self) == [])
        #expect(description.differences(ofError: "org.example.Gone", Number.self).count == 1)
        #expect(
            Everything.varlinkType.text.hasSuffix(
                "set: [string](), inner: (deep: int, deeper: (bottom: bool)), "
                    + "inners: [](deep: int, deeper: (bottom: bool)), object: object, "
                    + "holes: ?[]?(deep: int, deeper: (bottom: bool)))"
            )
        )
    }

    private enum Right: Varlink.Method {
        static let name = "org.example.Right"
        typealias Input = Bottom
        typealias Output = Inner
    }

    private enum Wrong: Varlink.Method {
        static let name = "org.example.Wrong"
        typealias Input = Bottom
        typealias Output = Inner
    }
}
