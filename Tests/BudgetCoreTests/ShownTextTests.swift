import BudgetCore
import Testing

@Suite("What is shown of long texts")
struct ShownTextTests {
    @Test("a command is shown in a bounded length, with a mark where it was cut")
    func shownCommand() {
        let short = ["sh", "-c", ""]
        #expect(Work(command: short).shownCommand == short)
        let long = Work(command: ["sh", String(repeating: "ä", count: 1 << 20), "end"]).shownCommand
        #expect(long.count == 2)
        #expect(long[0] == "sh")
        #expect(long[1].hasPrefix("ää"))
        #expect(long[1].hasSuffix("ä…"))
        #expect(long.joined().utf8.count <= 4096)
        #expect(long.joined().utf8.count > 4000)
        let many = Work(command: Array(repeating: "", count: 1 << 20)).shownCommand
        #expect(many.count <= 257)
        #expect(many.last == "…")
        #expect("äää".cut(toBytes: 6) == "äää")
        #expect("ääää".cut(toBytes: 6) == "ä…")
        #expect("ääää".cut(toBytes: 0) == "…")
    }
}
