import TaskAPI
import TestKit
import Testing
import TaskControl

@Suite("A timeline on a terminal")
struct TimelineBlocksTests {
    private func lines(
        _ entries: [TimelineEntry], seconds: Int = 110, width: Int = 64,
        _ style: Style = .terminal(width: 64, colour: false),
        _ set: TimelineBlocks.CharacterSet = .blocks,
        limits: TimelineLimits = TimelineLimits()
    ) -> [String] {
        let chart = TimelineChart(
            entries, axis: TimelineSample.axis(seconds), by: .name,
            scale: TimelineBlocks.scale(width: width), limits: limits)
        let text = TimelineBlocks.text(chart, width: width, style, set)
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test("a small picture, to the letter")
    func golden() {
        #expect(lines(TimelineSample.few) == Self.small)
    }

    @Test("the same without Unicode")
    func ascii() {
        let drawn = lines(TimelineSample.few, .plain, .ascii)
        #expect(drawn == Self.smallASCII)
    }

    @Test("colours add nothing that is not there without them")
    func colours() {
        let plain = lines(TimelineSample.few)
        let painted = lines(TimelineSample.few, .terminal(width: 64, colour: true))
        #expect(painted.contains { $0.contains("\u{1B}[") })
        let bare = painted.map { line in
            line.replacing(/\u{1B}\[[0-9]+m/, with: "")
        }
        #expect(bare == plain)
    }

    @Test("what is too much is drawn by its height, with the worst end below")
    func crowd() {
        var limits = TimelineLimits()
        limits.perRow = 4
        let entries = (0..<40).map { id in
            TimelineSample.entry(
                TimelineSample.task(
                    id, submitted: 100 - id * 2, started: 100 - id * 2, ended: 90 - id * 2,
                    id == 20 ? .failed : .completed))
        }
        let drawn = lines(entries, limits: limits)
        #expect(drawn.contains { $0.hasPrefix("flush ") && $0.contains("█") })
        #expect(drawn.contains { $0.hasPrefix("  40 tasks") && $0.contains("✗") })
        #expect(drawn.contains { $0.hasPrefix("Columns stand for 40 entries") })
    }

    @Test("the legend has the signs that can be seen, and no others")
    func legend() {
        // What ended behind the axis, and an attempt, whose outcome has no sign of its own here.
        let whole = TimelineSample.axis(110)
        let axis = TimeAxis(begin: whole.begin, end: whole.begin + 55_000, clock: whole.clock)
        let chart = TimelineChart(
            TimelineSample.few, axis: axis, by: .name, scale: TimelineBlocks.scale(width: 200))
        let drawn = TimelineBlocks.text(chart, width: 200, .plain, .blocks)
        let legend = drawn.split(separator: "\n").last ?? ""
        #expect(
            legend == "· waiting   █ running   ┃ end of an attempt   ✓ completed", "\(drawn)")
    }

    @Test("what another sign hides is not in the legend", arguments: [110, 300, 5000, 500_000])
    func hidden(seconds: Int) throws {
        let drawn = lines(TimelineSample.few, seconds: seconds)
        let gap = try #require(drawn.firstIndex(of: ""))
        let rows = Set(drawn[..<gap].joined())
        let signs = drawn[gap...].joined(separator: "   ").split(separator: "   ")
            .compactMap(\.first)
        #expect(!signs.isEmpty && signs.allSatisfy(rows.contains), "\(drawn)")
    }

    @Test("each sign without Unicode is another")
    func distinct() {
        let signs: [TimelineKey.Sign] =
            TimelineSpan.Kind.allCases.map { .span($0) }
            + TimelineOutcomes.order.map { .outcome($0) } + [.attempt, .live, .crowd]
        for set in [TimelineBlocks.CharacterSet.blocks, .ascii] {
            #expect(Set(signs.map(set.character)).count == signs.count)
        }
    }

    @Test("nothing is said as such")
    func nothing() {
        #expect(lines([]).contains("nothing waited, ran or ended in this time"))
    }

    @Test(
        "a locale that is not UTF-8 has ASCII",
        arguments: [
            (["LANG": "C.UTF-8"], true), (["LANG": "de_DE.utf8@euro"], true), ([:], false),
            (["LANG": "C"], false), (["LC_ALL": "POSIX", "LANG": "C.UTF-8"], false),
            (["LC_CTYPE": "en_GB.UTF-8", "LANG": "C"], true), (["LANG": "de_DE@euro"], false),
        ])
    func locale(variables: [String: String], isUnicode: Bool) {
        let set = TimelineBlocks.CharacterSet.of { variables[$0] }
        #expect((set == .blocks) == isUnicode)
    }

    @Test("whatever the names and the width, lines fit it, and nothing steers the terminal")
    func random() {
        for seed in 0..<Effort.choose(UInt64(60), 1000) {
            var random = SeededGenerator(seed: seed)
            let width = Int.random(in: TimelineBlocks.widths.lowerBound...160, using: &random)
            let set: TimelineBlocks.CharacterSet = Bool.random(using: &random) ? .blocks : .ascii
            let entries = TimelineSample.random(
                Int.random(in: 1...200, using: &random), names: 30, seed: seed)
            let drawn = lines(
                entries, seconds: Int.random(in: 1...5000, using: &random), width: width,
                .terminal(width: width, colour: false), set)
            for line in drawn where !line.hasPrefix("20") {
                #expect(TextWidth.of(line) <= width, "seed \(seed): \(line)")
                #expect(VisibleText.oneLine(line) == line, "seed \(seed)")
            }
        }
    }
}
