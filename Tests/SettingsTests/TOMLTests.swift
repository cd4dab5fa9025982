import Settings
import Testing

/// The listed entries of a document as `path=value`.
private func entries(_ text: String) throws -> [String] {
    try TOMLDocument(bytes: Array(text.utf8)).entries.map { entry in
        let path = entry.path.joined(separator: "/")
        return switch entry.value {
        case .string(let text): "\(path)='\(text)'"
        case .integer(let number): "\(path)=\(number)"
        case .float(let text): "\(path)=float \(text)"
        case .boolean(let flag): "\(path)=\(flag)"
        case .date(let text): "\(path)=date \(text)"
        case .array: "\(path)=array"
        case .table: "\(path)=table"
        }
    }
}

@Suite("TOML 1.0.0")
struct TOMLTests {
    @Test(
        "values are read as TOML defines them",
        arguments: [
            ("a = 0", "a=0"), ("a = +1_000", "a=1000"), ("a = -0", "a=0"),
            ("a = 0xDead_beef", "a=3735928559"),
            ("a = 0o755", "a=493"), ("a = 0b1101", "a=13"),
            ("a = -9223372036854775808", "a=\(Int.min)"),
            ("a = 1.5e-3", "a=float 1.5e-3"), ("a = -inf", "a=float -inf"),
            ("a = nan", "a=float nan"),
            ("a = true # yes", "a=true"), ("a = 07:32:00.5", "a=date 07:32:00.5"),
            ("a = 1979-05-27 07:32:00-07:00", "a=date 1979-05-27 07:32:00-07:00"),
            ("a = 2024-02-29", "a=date 2024-02-29"),
            (#"a = "x\ty\u00e9\U0001F600\\""#, "a='x\tyé😀\\'"), (#"a = 'C:\x'"#, #"a='C:\x'"#),
            ("a = \"\"\"\nx\r\n  \\  \n\n y\"\"\"\"", "a='x\n  y\"'"),
            ("a = '''\nx''y'''", "a='x''y'"),
            ("a = [1, [\"x\", {b = 1}],\n # c\n]", "a=array"), ("\"\" = 1", "=1"),
        ]
    )
    func values(_ text: String, _ entry: String) throws {
        #expect(try entries(text) == [entry])
    }

    @Test("headers, dotted keys and inline tables give the same paths")
    func tables() throws {
        let expected = ["a=table", "a/b=table", "a/b/c=1"]
        #expect(try entries("[a.b]\nc = 1") == expected)
        #expect(try entries("a . \"b\" . 'c' = 1") == expected)
        #expect(try entries("a = {b = {c = 1}}") == expected)
        #expect(try entries("[a]\nb.c = 1") == expected)
        #expect(try entries("a.b.c.d.e.f = 1").last == "a/b/c/d=table")
        #expect(try entries("[a.b]\n[a]\nc = 1") == ["a=table", "a/b=table", "a/c=1"])
    }

    @Test(
        "what defines anything twice is refused",
        arguments: [
            "a = 1\na = 2", "a = 1\n[a]", "a = 1\na.b = 2", "[a]\n[a]", "[a]\nb = 1\n[a.b]",
            "[a]\nb.c = 1\n[a.b]", "a = {b = 1}\na.c = 2", "a = {b = 1}\n[a.c]",
            "a = {b = 1, b = 2}",
            "[a.b.c]\nz = 9\n[a]\nb.c.t = 1", "a = []\n[[a]]", "[a]\n[[a]]", "[[a]]\n[a]",
            "\"a\" = 1\n'a' = 2", "a.b = 1\na.b.c = 2", "[[a]]\nb = 1\nb = 2",
            "x = [{a = 1, a = 2}]",
            "a = 1\n[[a.b]]",
        ]
    )
    func twice(_ text: String) {
        let error = #expect(throws: TOMLError.self) { try TOMLDocument(bytes: Array(text.utf8)) }
        #expect(error?.text.hasSuffix("is defined twice") == true, "\(error as Any)")
    }

    @Test(
        "what TOML does not allow is refused",
        arguments: [
            "a", "= 1", "a =", "a = 1 b = 2", "a. = 1", ".a = 1", "a..b = 1", "[]", "[a", "[a]]",
            "[[a]",
            "[a] b = 1", "a = 01", "a = 1_", "a = _1", "a = 1__0", "a = 0x", "a = +0x1", "a = 1.",
            "a = .5",
            "a = 1e", "a = 1.e5", "a = 0b2", "a = True", "a = +true", "a = 2023-02-29",
            "a = 24:00:00",
            "a = 12:00", "a = 2024-01-01T", "a = 2024-01-01T00:00:00+25:00", "a = \"\\x\"",
            "a = \"\\uD800\"", "a = \"\\u12\"", "a = \"\u{7F}\"", "a = 'x", "a = \"\"\"x",
            "a = '''x",
            "a = \"\"\"x\"\"\"\"\"\"", "a = \"x\ny\"", "a = {b = 1,}", "a = {b = 1\n}", "a = {,}",
            "a = [1 2]",
            "a = [,]", "a = [1", "a = 1\rb = 2", "# x\ry", "a\n= 1", "\"\"\"a\"\"\" = 1",
            "a = 9223372036854775808",
        ]
    )
    func refused(_ text: String) {
        #expect(throws: TOMLError.self) { try TOMLDocument(bytes: Array(text.utf8)) }
    }

    @Test("a document cut at any byte never traps")
    func cut() throws {
        let text =
            "[a.\"b\\u00e9\"]\nc = {d = [1, \"\"\"x\\\n y\"\"\", '''z'''], e.f = 0x1F}\n[[g]]\nh = 1979-05-27 07:32:00Z\r\n"
        let bytes = Array(text.utf8)
        _ = try TOMLDocument(bytes: bytes)
        for length in 0..<bytes.count {
            _ = try? TOMLDocument(bytes: Array(bytes[..<length]))
        }
    }

    @Test("depth is allowed up to the bound and refused beyond it")
    func depth() throws {
        let most = TOMLDocument.depthMax
        func arrays(_ depth: Int) -> String {
            "a = " + String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        func keys(_ parts: Int) -> String {
            Array(repeating: "a", count: parts).joined(separator: ".") + " = 1"
        }
        #expect(try entries(arrays(most)) == ["a=array"])
        #expect(throws: TOMLError.self) { try entries(arrays(most + 1)) }
        #expect(try entries(keys(most)).count == 4)
        #expect(throws: TOMLError.self) { try entries(keys(most + 1)) }
    }

    @Test("a key's place is counted in characters, also on one long line")
    func positions() throws {
        let text = "# é\n'ééé' = {a = 1, \"😀\" = {b = 2}}\n"
        let places = try TOMLDocument(bytes: Array(text.utf8)).entries.map(\.position)
        #expect(places.map { $0?.line } == [2, 2, 2, 2])
        #expect(places.map { $0?.column } == [1, 10, 17, 24])
    }
}
