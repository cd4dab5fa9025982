import Foundation
import Testing

@Suite("The manual pages")
struct FormatTests {
    /// Programs that say what is wrong with a page, and nothing of one that is well.
    private static let checkers = [
        ["/usr/bin/groff", "-man", "-ww", "-z", "-Tutf8"],
        ["/usr/bin/mandoc", "-man", "-Tlint", "-Wwarning"],
    ]
    private static let checker = checkers.first {
        FileManager.default.isExecutableFile(atPath: $0[0])
    }

    @Test(
        "are written without a mistake",
        .enabled(if: checker != nil, "neither groff nor mandoc is here; see `make test-deps`"),
        arguments: ManualPage.names
    )
    func format(name: String) throws {
        let checker = try #require(Self.checker)
        let path = ManualPage.folder.appendingPathComponent(name).path
        let complaints = try Program.said(by: checker[0], checker.dropFirst() + [path])
        #expect(String(decoding: complaints, as: UTF8.self) == "")
    }

    @Test("begin with their own name", arguments: ManualPage.names)
    func title(name: String) throws {
        let words = name.split(separator: ".")
        let title = words.dropLast().joined(separator: ".")
        let text = try String(
            contentsOf: ManualPage.folder.appendingPathComponent(name), encoding: .utf8)
        #expect(text.hasPrefix(".TH \(title.uppercased()) \(words.last ?? "") "))
        let name = title.replacingOccurrences(of: "-", with: "\\-")
        #expect(text.contains(".SH NAME\n\(name) \\- "))
    }

    @Test("name each other", arguments: ManualPage.names)
    func references(name: String) throws {
        let others = ManualPage.names.filter { $0 != name }.map { page in
            let words = page.split(separator: ".")
            let title = words.dropLast().joined(separator: ".")
            return title.replacingOccurrences(of: "-", with: "\\-") + " (\(words.last ?? ""))"
        }
        let lines = try ManualPage(name).section("SEE ALSO").lines
        for other in others {
            #expect(lines.contains { $0.hasPrefix(".BR \(other)") }, "\(other)")
        }
    }
}
