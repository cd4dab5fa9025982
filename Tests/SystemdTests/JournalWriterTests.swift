import Glibc
import Logging
import Systemd
import Testing

@Suite("The journal writer", .timeLimit(.minutes(15)))
struct JournalWriterTests {
    private func entry(_ kind: JournalEntry.Kind, _ text: String) -> JournalEntry {
        JournalEntry(kind, level: .info, message: .string(text))
    }

    /// Lines that came out, without the dots that blocked the pipe.
    private func lines(_ bytes: [UInt8]) -> [String] {
        let text = String(decoding: bytes.drop { $0 == UInt8(ascii: ".") }, as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    @Test("entries come out in the order in which they were written")
    func keepsOrder() throws {
        let pipe = try Pipe()
        let writer = try JournalWriter(
            to: .text(descriptor: pipe.writer, levelPrefix: false),
            identifier: "test"
        )
        for number in 0..<500 {
            #expect(writer.write(entry(number.isMultiple(of: 3) ? .audit : .output, "\(number)")))
        }
        #expect(writer.flush(within: .seconds(20)))
        #expect(writer.close(within: .seconds(20)) == JournalLoss())
        pipe.closeWriter()
        #expect(lines(pipe.readToEnd()) == (0..<500).map { "info \($0)" })
    }

    @Test(
        "a sink that nobody reads never holds the caller up, and what is lost is counted and told"
    )
    func countsLoss() throws {
        let pipe = try Pipe()
        pipe.fill()
        let writer = try JournalWriter(
            to: .text(descriptor: pipe.writer, levelPrefix: false),
            identifier: "test",
            limits: .init(entriesMax: 100)
        )
        var accepted: [String] = []
        for number in 0..<80 where writer.write(entry(.output, "output \(number)")) {
            accepted.append("info output \(number)")
        }
        #expect(accepted.count == 50)
        for number in 0..<80 where writer.write(entry(.audit, "audit \(number)")) {
            accepted.append("info audit \(number)")
        }
        #expect(accepted.count == 100)
        #expect(!writer.flush(within: .milliseconds(1)))

        let reader = Thread { pipe.readToEnd() }
        #expect(writer.flush(within: .seconds(20)))
        #expect(writer.write(entry(.audit, "after")))
        #expect(writer.close(within: .seconds(20)) == JournalLoss())
        pipe.closeWriter()
        let report = "warning journal entries were lost: no room, or refused by the journal"
        let told = "\(report)  BGTASK_LOST_AUDIT=30 BGTASK_LOST_OUTPUT=30"
        let found = lines(reader.join())
        #expect(found.filter { $0 == told }.count == 1)
        #expect(found.filter { $0 != told } == accepted + ["info after"])
    }

    @Test("bytes are bounded as entries are")
    func boundsBytes() throws {
        let pipe = try Pipe()
        pipe.fill()
        let writer = try JournalWriter(
            to: .text(descriptor: pipe.writer, levelPrefix: false),
            identifier: "test",
            limits: .init(entriesMax: 1_000, bytesMax: 10_000)
        )
        let large = String(repeating: "x", count: 4_000)
        #expect(writer.write(entry(.output, large)))
        #expect(!writer.write(entry(.output, large)))
        #expect(writer.write(entry(.audit, large)))
        #expect(!writer.write(entry(.audit, large)))
        #expect(!writer.write(entry(.audit, String(repeating: "x", count: 20_000))))
        #expect(writer.write(entry(.audit, "small")))
        let reader = Thread { pipe.readToEnd() }
        #expect(writer.flush(within: .seconds(20)))
        #expect(writer.write(entry(.output, large)), "what is written takes no room any more")
        _ = writer.close(within: .seconds(20))
        pipe.closeWriter()
        #expect(lines(reader.join()).contains { $0.hasSuffix("LOST_AUDIT=2 BGTASK_LOST_OUTPUT=1") })
    }

    @Test("an end has a bound, and says what is lost")
    func endHasBound() throws {
        let pipe = try Pipe()
        pipe.fill()
        let writer = try JournalWriter(
            to: .text(descriptor: pipe.writer, levelPrefix: false),
            identifier: "test",
            limits: .init(entriesMax: 10)
        )
        for _ in 0..<8 { writer.write(entry(.output, "output")) }
        for _ in 0..<8 { writer.write(entry(.audit, "audit")) }
        #expect(writer.close(within: .milliseconds(1)) == JournalLoss(audit: 8, output: 8))
        #expect(!writer.write(entry(.audit, "late")))
        // Lets the thread go on, so that it does not outlive the descriptor it writes to.
        let reader = Thread { pipe.readToEnd() }
        #expect(writer.flush(within: .seconds(20)))
        pipe.closeWriter()
        _ = reader.join()
    }

    @Test("a reader that is gone is no end of ours, and its entries count as lost")
    func readerIsGone() throws {
        let pipe = try Pipe()
        pipe.closeReader()
        let writer = try JournalWriter(
            to: .text(descriptor: pipe.writer, levelPrefix: false),
            identifier: "test"
        )
        for _ in 0..<3 { #expect(writer.write(entry(.audit, "nobody reads"))) }
        #expect(writer.flush(within: .seconds(20)))
        #expect(writer.close(within: .seconds(20)) == JournalLoss(audit: 3))
    }

    @Test("entries below the level are left out, which is no loss, and the level may change")
    func filters() throws {
        let pipe = try Pipe()
        let writer = try JournalWriter(
            to: .text(descriptor: pipe.writer, levelPrefix: true),
            identifier: "test",
            level: .notice
        )
        #expect(writer.write(entry(.audit, "left out")))
        #expect(!writer.writes(.info))
        writer.level = .debug
        #expect(writer.level == .debug)
        #expect(writer.write(entry(.audit, "written")))
        #expect(writer.close(within: .seconds(20)) == JournalLoss())
        pipe.closeWriter()
        #expect(lines(pipe.readToEnd()) == ["<6>info written"])
    }

    @Test("a log statement becomes an entry, its metadata fields with safe names")
    func handlesLogs() throws {
        let pipe = try Pipe()
        let writer = try JournalWriter(
            to: .text(descriptor: pipe.writer, levelPrefix: false),
            identifier: "test"
        )
        var logger = Logger(label: "test") { _ in JournalLogHandler(writer: writer) }
        logger[metadataKey: "listen-path"] = "/run/x"
        logger.debug("left out")
        logger.warning("cannot read", metadata: ["errno": "2", "_PID": "1"])
        #expect(logger.logLevel == .info)
        logger.logLevel = .trace
        logger.trace("last")
        #expect(writer.close(within: .seconds(20)) == JournalLoss())
        pipe.closeWriter()
        let path = "BGTASK_LISTEN_PATH=/run/x"
        #expect(
            lines(pipe.readToEnd()) == [
                "warning cannot read  BGTASK__PID=1 BGTASK_ERRNO=2 \(path)", "debug last  \(path)",
            ]
        )
    }

    @Test("many threads may write at once, and every entry is written or counted")
    func takesManyThreads() throws {
        let pipe = try Pipe()
        let writer = try JournalWriter(
            to: .text(descriptor: pipe.writer, levelPrefix: false),
            identifier: "test",
            limits: .init(entriesMax: 64)
        )
        let reader = Thread { pipe.readToEnd() }
        let threads = (0..<4).map { thread in
            Thread {
                let entry = JournalEntry(level: .info, message: .string("from \(thread)"))
                return (0..<2_000).filter { _ in writer.write(entry) }.map { _ in 1 }
            }
        }
        let accepted = threads.reduce(0) { $0 + $1.join().count }
        #expect(writer.close(within: .seconds(20)) == JournalLoss())
        pipe.closeWriter()
        let found = lines(reader.join())
        #expect(found.count { $0.hasPrefix("info from") } == accepted)
        let told = found.compactMap { line in
            line.firstRange(of: "LOST_AUDIT=").flatMap {
                Int(line[$0.upperBound...].prefix { $0.isNumber })
            }
        }
        #expect(told.reduce(0, +) == 8_000 - accepted)
    }
}
