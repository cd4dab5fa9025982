import LinuxSystem
import Testing

@Suite("The uids that subuid(5) gives to users")
struct SubordinateIDTests {
    @Test("lines with names and numbers are read, and those that make no sense left out")
    func lines() {
        var asked: [String] = []
        let text = """
            alice:100000:65536
            # a comment
            1002:165536:65536

            alice:300000:1
            nobody-knows:400000:10
            alice:500000:0
            alice:-1:5
            alice:600000
            alice:4294967295:10
            """
        let ids = SubordinateIDs(text: text) { name in
            asked.append(name)
            return name == "alice" ? 1001 : nil
        }
        #expect(ids.ranges.map(\.user) == [1001, 1002, 1001, 1001])
        #expect(
            ids.ranges.map(\.uids) == [
                100_000...165_535, 165_536...231_071, 300_000...300_000, UInt32.max...UInt32.max,
            ])
        #expect(asked == ["alice", "nobody-knows"])
        #expect(SubordinateIDs(path: "/nonexistent/subuid").ranges == [])
    }
}
