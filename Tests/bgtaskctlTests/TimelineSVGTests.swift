import Foundation
import FoundationXML
import TestKit
import Testing
import TaskControl

@Suite("A timeline as SVG")
struct TimelineSVGTests {
    private func chart(
        _ entries: [TimelineEntry], seconds: Int = 110, by grouping: TimelineGrouping = .name,
        width: Int = 800, limits: TimelineLimits = TimelineLimits()
    ) -> TimelineChart {
        TimelineSample.chart(entries, seconds, by: grouping, width: width, limits: limits)
    }

    /// The element that follows a text.
    private func rest(of text: String, after start: String) -> String? {
        text.range(of: start).map { String(text[$0.upperBound...]) }
    }

    @Test("a small picture, to the letter")
    func golden() throws {
        let text = TimelineSVG.text(chart(TimelineSample.few), width: 800)
        let body = try #require(rest(of: text, after: "</defs>\n"))
        #expect(body == Self.small)
    }

    @Test("in a narrow picture the time stands below the heading, and not in it")
    func narrow() throws {
        for (width, place) in [(400, #"x="16" y="44""#), (1200, #"x="210" y="26""#)] {
            let text = TimelineSVG.text(chart(TimelineSample.few, width: width), width: width)
            #expect(text.contains(##"<text class="bgtl-small" \##(place)>2026-11-25 17:58:10"##))
        }
    }

    @Test("it is well-formed, within its frame, and asks for nothing")
    func random() throws {
        for seed in 0..<Effort.choose(UInt64(30), 500) {
            var random = SeededGenerator(seed: seed)
            let width = Int.random(in: TimelineSVG.widths.lowerBound...2000, using: &random)
            var limits = TimelineLimits()
            limits.rows = Int.random(in: 1...40, using: &random)
            limits.perRow = Int.random(in: 1...60, using: &random)
            let entries = TimelineSample.random(
                Int.random(in: 1...300, using: &random), names: 30, seed: seed)
            let chart = chart(
                entries, seconds: Int.random(in: 1...5000, using: &random),
                by: TimelineGrouping.allCases.randomElement(using: &random) ?? .name, width: width,
                limits: limits)
            let svg = PictureReader(TimelineSVG.text(chart, width: width))
            #expect(svg.failure == nil, "seed \(seed)")
            #expect(svg.faults == [], "seed \(seed)")
            let summary = TimelineSummary(entries, axis: chart.axis)
            let page = TimelinePage.text(chart, summary, width: width)
            let html = PictureReader(page.replacing("<!DOCTYPE html>\n", with: ""))
            #expect(html.failure == nil, "seed \(seed)")
            #expect(html.faults == [], "seed \(seed)")
        }
    }

    @Test("each task that is drawn has its words, and a title of a crowd its numbers")
    func titles() {
        let reader = PictureReader(TimelineSVG.text(chart(TimelineSample.few), width: 800))
        #expect(
            reader.titles.contains(
                "2 backup: expired\nrunning 20s, warned, in its grace 10s\n"
                    + "2026-11-25 17:59:10 – 2026-11-25 17:59:40"))
        #expect(reader.titles.contains { $0.hasPrefix("3 a<b>&\\u{202e}\\x01: cancelled\n") })
        #expect(reader.titles.contains { $0.hasSuffix("\nattempts: failed at 17:58:50") })
    }

    @Test(
        "a hundred thousand tasks make a picture of less than two megabytes",
        arguments: TimelineGrouping.allCases)
    func many(grouping: TimelineGrouping) {
        let count = Effort.choose(100_000)
        let entries = TimelineSample.random(count, names: 300, seed: 1)
        let chart = chart(entries, seconds: 5000, by: grouping, width: 1200)
        let text = TimelineSVG.text(chart, width: 1200)
        #expect(text.utf8.count < 2_000_000)
        #expect(PictureReader(text).failure == nil)
        #expect(chart.rows.reduce(0) { $0 + $1.count } == count)
    }

    @Test("light and dark have the same rules, and none reaches what is not ours")
    func sheet() {
        let parts = TimelineColours.sheet.components(
            separatedBy: "@media (prefers-color-scheme:dark){")
        #expect(parts.count == 2)
        func selectors(_ text: String) -> [String] {
            text.split(separator: "}").flatMap { rule in
                rule.split(separator: "{").first.map { $0.split(separator: ",") } ?? []
            }.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { !$0.isEmpty }
        }
        let (light, dark) = (selectors(parts[0]), selectors(parts[1]))
        #expect((light + dark).allSatisfy { $0.hasPrefix(".bgtl") })
        #expect(Set(dark).isSubset(of: light))
        for colour in ["#ffffff", "#15191e"] { #expect(TimelineColours.sheet.contains(colour)) }
    }

    @Test("a summary has each name, with what became of its tasks")
    func summary() {
        let summary = TimelineSummary(TimelineSample.few, axis: TimelineSample.axis(110))
        #expect(summary.lines.map(\.label) == ["backup", "flaky", "a<b>&\u{202E}\u{1}"])
        #expect(summary.lines[0].outcomes.text == "1 completed, 1 expired")
        #expect(summary.lines.map(\.ran) == [60_000, 30_000, 0])
        #expect(summary.lines.map(\.longest) == [30_000, 30_000, 0])
        #expect(summary.lines.map(\.waited) == [10_000, 65_000, 40_000])
        #expect(summary.others == 0)
        let many = TimelineSample.random(2000, names: 1500, seed: 3)
        let long = TimelineSummary(many, axis: TimelineSample.axis(10_000))
        #expect(long.lines.reduce(0) { $0 + $1.count } + long.othersCount == 2000)
        #expect(long.others > 0)
    }
}

/// Reads a picture, and finds what should not be in one.
private final class PictureReader: NSObject, XMLParserDelegate {
    private(set) var titles: [String] = []
    private(set) var faults: [String] = []
    private(set) var failure: String?
    private var path: [String] = []
    private var frame = (width: Double.infinity, height: Double.infinity)

    init(_ text: String) {
        super.init()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = self
        if !parser.parse() {
            failure = "\(parser.parserError.map { "\($0)" } ?? "?") line \(parser.lineNumber)"
        }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?, attributes: [String: String]
    ) {
        path.append(name)
        if name == "svg", let width = attributes["width"], let height = attributes["height"] {
            frame = (Double(width) ?? 0, Double(height) ?? 0)
        }
        if name == "title" { titles.append("") }
        let allowed: Set<String> = [
            "svg", "title", "style", "defs", "pattern", "rect", "circle", "path", "text", "g",
            "clipPath", "html", "head", "meta", "body", "h1", "h2", "p", "div", "table", "tr", "td",
            "th",
        ]
        if !allowed.contains(name) { faults.append("element \(name)") }
        for (key, value) in attributes {
            if key.hasPrefix("on") || key.hasSuffix("href") || key == "src" || key == "style" {
                faults.append("attribute \(key)")
            }
            if key == "id", !value.hasPrefix("bgtl-") { faults.append("id \(value)") }
            if value.contains("nan") || value.contains("inf") { faults.append("\(key) \(value)") }
        }
        guard path.contains("svg"), !path.contains("defs"), !path.contains("html") else { return }
        check(attributes)
    }

    private func check(_ attributes: [String: String]) {
        func number(_ key: String) -> Double { attributes[key].flatMap(Double.init) ?? 0 }
        let (x, y) = (number("x") + number("cx"), number("y") + number("cy"))
        let (width, height) = (number("width"), number("height"))
        if x < 0 || y < 0 || width < 0 || height < 0 || x + width > frame.width + 0.2
            || y + height > frame.height + 0.2
        {
            faults.append("\(attributes) is not within \(frame)")
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if path.last == "title" { titles[titles.count - 1] += string }
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        path.removeLast()
    }
}
