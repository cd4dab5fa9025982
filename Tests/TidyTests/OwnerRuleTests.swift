import Testing

@Suite("The rule of owners catches what it is for")
struct OwnerRuleTests {
    /// The properties that are found in a type's file beside an extension in another.
    private func properties(
        _ type: String, _ other: String, in path: String = "Sources/Systemd/B.swift"
    ) -> [String] {
        let files = [
            SourceFile(path: "Sources/Systemd/A.swift", text: type),
            SourceFile(path: path, text: other),
        ]
        return OwnerRule.violations(in: files).map { "\($0.type).\($0.property):\($0.line)" }
    }

    @Test(
        "a variable of a class that another file extends",
        arguments: [
            "final class A {\n    var b = 1\n}", "class A<B>: C\nwhere B: D { var b: B }",
            "package actor A {\n    package var b: [C: (D) -> E] = [:]\n}",
            "class A { weak var b: C?; func d() {} }", "class A { var b = c { didSet { d() } } }",
            "class A {\n    var b: C { didSet { d() } }\n}",
            "class A { var b: C\n    { willSet {} } }",
            "class A { lazy var b = { 1 }() }", "class A { var (b, c) = (1, 2) }",
        ]
    )
    func openClass(type: String) {
        let found = properties(type, "extension A {}")
        #expect(found.first?.hasPrefix("A.b:") == true)
    }

    @Test(
        "what only its file can assign is no violation",
        arguments: [
            "class A { private var b = 1 }", "class A { private(set) var b = 1 }",
            "class A { package fileprivate(set) var b = 1 }", "class A { let b = 1 }",
            "class A { var b: Int { 1 } }", "class A {\n    var b: Int\n    { 1 }\n}",
            "class A { func b() { var c = 1; c += 1 } }", "class A { static var b = 1 }",
            "class A { var b: Int { get { 1 } set { c(newValue) } } }",
            "class A { class func b() {} }", "class C { var b = 1 }",
        ]
    )
    func closedClass(type: String) {
        #expect(properties(type, "extension A { func d() {} }").isEmpty)
    }

    @Test("an extension in the same file touches what it likes")
    func sameFile() {
        let text = "struct A { var b = 1 }\nextension A { mutating func c() { b = 2 } }"
        #expect(properties(text, "let d = 1").isEmpty)
        #expect(properties("class A { var b = 1 }\nextension A {}", "").isEmpty)
    }

    @Test(
        "a struct's variable that another file's extension assigns",
        arguments: [
            "extension A { mutating func c() { b = 2 } }",
            "extension A { mutating func c() { self.b = 2 } }",
            "extension A { var c: Int { get { 1 } set { b = newValue } } }",
            "extension A {\n    func d() {}\n    private mutating func c(_ e: E)\n    { f { b += 1 } } }",
        ]
    )
    func assignedStruct(other: String) {
        #expect(properties("\nstruct A { var b = 1 }", other) == ["A.b:2"])
    }

    @Test(
        "a conversion or a reader of a struct is no violation",
        arguments: [
            "extension A { init(_ c: C) { b = c.d } }", "extension A { func c() -> Int { b } }",
            "extension A { mutating func c() { d.b = 2 } }", "extension A: E { var c: Int { b } }",
        ]
    )
    func readStruct(other: String) {
        #expect(properties("struct A { var b = 1 }", other).isEmpty)
    }

    @Test("a message of the wire is all interface")
    func messages() {
        let other = "extension A { mutating func c() { b = 2 } }"
        #expect(properties("struct A: B, Message { var b = 1 }", other).isEmpty)
        #expect(properties("struct A: Messages { var b = 1 }", other) == ["A.b:1"])
    }

    @Test("nested types, and those of other modules")
    func names() {
        let nested = "enum A { final class B { var c = 1 } }"
        #expect(properties(nested, "extension A.B {}") == ["A.B.c:1"])
        #expect(properties(nested, "extension B {}").isEmpty)
        #expect(
            properties("extension A { class B { var c = 1 } }", "extension A.B {}") == ["A.B.c:1"])
        let path = "Sources/Varlink/B.swift"
        #expect(properties("class A { var b = 1 }", "extension A {}", in: path) == ["A.b:1"])
        let own = "class A {}\nextension A {}"
        #expect(properties("class A { var b = 1 }", own, in: path).isEmpty)
    }

    @Test("what is in comments and strings is nothing")
    func texts() {
        #expect(
            properties("class A { /* var b = 1 */ let c = \"var d\" }", "extension A {}").isEmpty)
    }
}
