import Glibc
import TaskAPI
import TestKit
import Testing
import TaskControl

@Suite("The counts as monitoring systems read them")
struct MetricsTests {
    private static func counter(
        _ name: String, _ value: Int, _ labels: [String: String] = [:], help: String = "Help."
    ) -> Manager.Counter {
        var counter = Manager.Counter()
        (counter.name, counter.value, counter.labels, counter.help) = (name, value, labels, help)
        return counter
    }

    private static let statistics: Manager.Statistics.Output = {
        var histogram = Manager.Histogram()
        histogram.name = "bgtaskd_wait_seconds"
        histogram.help = "Waits."
        histogram.boundsNs = [125_000, 1_000_000_000]
        histogram.counts = [2, 1, 4]
        histogram.sumNs = 9_000_000_001
        var output = Manager.Statistics.Output()
        output.counters = [
            counter("bgtaskd_build_info", 1, ["version": "1"]),
            counter("bgtaskd_ended_total", 3, ["outcome": "failed"]),
            counter("bgtaskd_size_bytes", -1),
            counter("bgtaskd_ended_total", 5, ["outcome": "completed"]),
        ]
        var gauge = Manager.Gauge()
        (gauge.name, gauge.help, gauge.value) = ("bgtaskd_pressure_ratio", "Waits.", 0.0105)
        gauge.labels = ["stalled": "full"]
        output.gauges = [gauge]
        output.histograms = [histogram]
        return output
    }()

    @Test("OpenMetrics has units, families without the endings of their samples, and an end")
    func openMetrics() {
        #expect(
            MetricsText(format: .openMetrics).text(Self.statistics) == """
                # HELP bgtaskd_up Whether the daemon has answered.
                # TYPE bgtaskd_up gauge
                bgtaskd_up 1
                # HELP bgtaskd_build Help.
                # TYPE bgtaskd_build info
                bgtaskd_build_info{version="1"} 1
                # HELP bgtaskd_ended Help.
                # TYPE bgtaskd_ended counter
                bgtaskd_ended_total{outcome="failed"} 3
                bgtaskd_ended_total{outcome="completed"} 5
                # HELP bgtaskd_size_bytes Help.
                # TYPE bgtaskd_size_bytes gauge
                # UNIT bgtaskd_size_bytes bytes
                bgtaskd_size_bytes -1
                # HELP bgtaskd_pressure_ratio Waits.
                # TYPE bgtaskd_pressure_ratio gauge
                # UNIT bgtaskd_pressure_ratio ratio
                bgtaskd_pressure_ratio{stalled="full"} 0.0105
                # HELP bgtaskd_wait_seconds Waits.
                # TYPE bgtaskd_wait_seconds histogram
                # UNIT bgtaskd_wait_seconds seconds
                bgtaskd_wait_seconds_bucket{le="0.000125"} 2
                bgtaskd_wait_seconds_bucket{le="1.0"} 3
                bgtaskd_wait_seconds_bucket{le="+Inf"} 7
                bgtaskd_wait_seconds_sum 9.000000001
                bgtaskd_wait_seconds_count 7
                # EOF

                """)
    }

    @Test("the format of Prometheus has the names of the samples, and no end")
    func prometheus() {
        #expect(
            MetricsText(format: .prometheus).text(Self.statistics) == """
                # HELP bgtaskd_up Whether the daemon has answered.
                # TYPE bgtaskd_up gauge
                bgtaskd_up 1
                # HELP bgtaskd_build_info Help.
                # TYPE bgtaskd_build_info gauge
                bgtaskd_build_info{version="1"} 1
                # HELP bgtaskd_ended_total Help.
                # TYPE bgtaskd_ended_total counter
                bgtaskd_ended_total{outcome="failed"} 3
                bgtaskd_ended_total{outcome="completed"} 5
                # HELP bgtaskd_size_bytes Help.
                # TYPE bgtaskd_size_bytes gauge
                bgtaskd_size_bytes -1
                # HELP bgtaskd_pressure_ratio Waits.
                # TYPE bgtaskd_pressure_ratio gauge
                bgtaskd_pressure_ratio{stalled="full"} 0.0105
                # HELP bgtaskd_wait_seconds Waits.
                # TYPE bgtaskd_wait_seconds histogram
                bgtaskd_wait_seconds_bucket{le="0.000125"} 2
                bgtaskd_wait_seconds_bucket{le="1"} 3
                bgtaskd_wait_seconds_bucket{le="+Inf"} 7
                bgtaskd_wait_seconds_sum 9.000000001
                bgtaskd_wait_seconds_count 7

                """)
    }

    @Test("no name, label or help breaks out of its place")
    func hostile() {
        var output = Manager.Statistics.Output()
        let help = "one \"two\" \\ three\nforged 1"
        output.counters = [
            Self.counter("1 bad{name}", 1, ["a b": "quote \" slash \\ line\nforged 1"], help: help)
        ]
        let told = "_1_bad_name_{a_b=\"quote \\\" slash \\\\ line\\nforged 1\"} 1"
        let open = MetricsText(format: .openMetrics).text(output).split(separator: "\n")
        #expect(
            open.dropFirst(3).map(String.init) == [
                "# HELP _1_bad_name_ one \\\"two\\\" \\\\ three\\nforged 1",
                "# TYPE _1_bad_name_ gauge", told, "# EOF",
            ])
        let prometheus = MetricsText(format: .prometheus).text(output).split(separator: "\n")
        #expect(
            prometheus.dropFirst(3).map(String.init) == [
                "# HELP _1_bad_name_ one \"two\" \\\\ three\\nforged 1",
                "# TYPE _1_bad_name_ gauge", told,
            ])
    }

    @Test("nanoseconds are told as seconds without a loss")
    func seconds() {
        let all = [0, 1, 15_625, 1_000_000_000, 1_024_000_000, -1_500_000_000, Int.max, .min]
        #expect(
            all.map(MetricsText.seconds) == [
                "0", "0.000000001", "0.000015625", "1", "1.024", "-1.5", "9223372036.854775807",
                "-9223372036.854775808",
            ])
    }

    @Test("a percentile is the bound that so many are not above")
    func percentiles() throws {
        var histogram = try #require(Self.statistics.histograms?.first)
        func bounds() -> [String] {
            [1, 28, 29, 50, 99].map { CounterText.bound(histogram, percent: $0) }
        }
        let low = "\u{2264} 0.000125 s"
        #expect(bounds() == [low, low, "\u{2264} 1 s", "> 1 s", "> 1 s"])
        histogram.counts = [0, 0, 0]
        #expect(bounds() == ["-", "-", "-", "-", "-"])
    }

    @Test("on a terminal the whole meaning stands above what it is of, once")
    func meanings() {
        let help = "How long it took to bring changes to the disk, those that failed included."
        var statistics = Self.statistics
        statistics.counters = [
            Self.counter("bgtaskd_ended_total", 3, ["outcome": "failed"], help: help),
            Self.counter("bgtaskd_ended_total", 15, ["outcome": "completed"], help: help),
            Self.counter("bgtaskd_size_bytes", 7, help: "Its\nsize."),
        ]
        let style = Style.terminal(width: 60, colour: false)
        statistics.gauges = [Manager.Gauge()]
        statistics.gauges?[0].name = "bgtaskd_ratio"
        statistics.gauges?[0].value = 0.25
        statistics.gauges?[0].help = "Its share."
        let text = CounterText.text(statistics, style)
        #expect(
            text == """
                METRIC                                    VALUE
                # How long it took to bring changes to the disk, those that
                  failed included.
                bgtaskd_ended_total{outcome="failed"}         3
                bgtaskd_ended_total{outcome="completed"}     15
                # Its\\x0asize.
                bgtaskd_size_bytes                            7
                # Its share.
                bgtaskd_ratio                              0.25

                HISTOGRAM             COUNT   HALF   99 %
                # Waits.
                bgtaskd_wait_seconds      7  > 1 s  > 1 s

                """)
    }

    // MARK: - The program

    private static func answering() throws -> FakeDaemon {
        try FakeDaemon { peer in
            peer.expect(Manager.Statistics.self, reply: statistics)
            peer.waitForClose()
        }
    }

    @Test("a script gets three fields a line, of histograms the sum and the count")
    func plain() throws {
        let daemon = try Self.answering()
        let run = try CommandRun(daemon, "stats")
        #expect(run.finish() == 0)
        #expect(
            run.output.split(separator: "\n").suffix(4).map(String.init) == [
                "bgtaskd_ended_total{outcome=\"completed\"}\t5\tHelp.",
                "bgtaskd_pressure_ratio{stalled=\"full\"}\t0.0105\tWaits.",
                "bgtaskd_wait_seconds_sum\t9.000000001\tWaits.",
                "bgtaskd_wait_seconds_count\t7\tWaits.",
            ])
    }

    @Test("a daemon of before knows no histograms")
    func olderDaemon() throws {
        let daemon = try FakeDaemon { peer in
            _ = peer.nextCall()
            peer.sendRaw(#"{"parameters":{"counters":[]}}"#)
            peer.waitForClose()
        }
        let run = try CommandRun(daemon, "stats", "--openmetrics")
        #expect(run.finish() == 0)
        #expect(run.output.hasSuffix("bgtaskd_up 1\n# EOF\n"))
    }

    @Test("a file is replaced by the text, readable for everybody, and nothing is left beside it")
    func file() throws {
        let daemon = try Self.answering()
        let folder = try ScratchFolder()
        let file = folder.path + "/bgtaskd.prom"
        for _ in 0..<2 {
            let run = try CommandRun(daemon, "stats", "--prometheus", "--output", file)
            #expect(run.finish() == 0)
            #expect(run.output.isEmpty && run.errors.isEmpty)
        }
        #expect(folder.names == ["bgtaskd.prom"])
        #expect(
            folder.text("bgtaskd.prom") == MetricsText(format: .prometheus).text(Self.statistics))
        var status = stat()
        #expect(stat(file, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o644)
    }

    @Test("a daemon that is gone is told in the file, in the place of what it said")
    func fileWithoutDaemon() throws {
        let folder = try ScratchFolder()
        let file = folder.path + "/bgtaskd.prom"
        let run = try CommandRun(
            [
                CommandRun.program, "--socket", folder.path + "/none", "stats", "--prometheus",
                "--output", file,
            ], ["PATH=/usr/bin:/bin"])
        #expect(run.finish() == 1)
        #expect(folder.text("bgtaskd.prom")?.hasSuffix("\nbgtaskd_up 0\n") == true)
        #expect(run.errors.contains("no daemon") || run.errors.contains("socket"))
    }

    @Test(
        "what is no file is left as it is, also behind a link: root's device would be gone for everybody"
    )
    func device() throws {
        let daemon = try Self.answering()
        let folder = try ScratchFolder()
        let (pipe, link) = (folder.path + "/pipe", folder.path + "/link")
        #expect(mkfifo(pipe, 0o600) == 0 && symlink(pipe, link) == 0)
        for path in [pipe, link] {
            let run = try CommandRun(daemon, "stats", "--prometheus", "--output", path)
            #expect(run.finish() == 1)
            #expect(
                run.errors
                    == "bgtaskctl: cannot replace \(path): it is a device, a pipe or a socket, and no file\n"
            )
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFIFO)
        }
        #expect(folder.names == ["link", "pipe"])
        let run = try CommandRun(daemon, "stats", "--prometheus", "--output", folder.path)
        #expect(run.finish() == 1)
        #expect(run.errors == "bgtaskctl: cannot write \(folder.path): Is a directory\n")
    }

    @Test("a link on the way leads where its owner says: root's and one's own, and no stranger's")
    func link() throws {
        let daemon = try Self.answering()
        let folder = try ScratchFolder()
        let (real, link) = (folder.path + "/real", folder.path + "/link")
        #expect(mkdir(real, 0o755) == 0 && symlink(real, link) == 0)
        func write() throws -> CommandRun {
            try CommandRun(daemon, "stats", "--prometheus", "--output", link + "/x")
        }
        let own = try write()
        #expect(own.finish() == 0, "\(own.errors)")
        #expect(access(real + "/x", F_OK) == 0 && unlink(real + "/x") == 0)
        guard geteuid() == 0 else { return }
        let stranger: uid_t = 4711
        #expect(lchown(link, stranger, stranger) == 0)
        let strange = try write()
        #expect(strange.finish() == 1)
        #expect(
            strange.errors == "bgtaskctl: cannot write \(link)/x: it is behind a link, "
                + "and \(link) is a link of user 4711\n")
        // Who may write a folder replaces what is in it.
        #expect(lchown(link, 0, 0) == 0 && chown(folder.path, stranger, stranger) == 0)
        let replaceable = try write()
        #expect(replaceable.finish() == 1)
        #expect(replaceable.errors.contains("\(folder.path) belongs to user 4711"))
        #expect(access(real + "/x", F_OK) != 0)
        let direct = try CommandRun(daemon, "stats", "--prometheus", "--output", real + "/x")
        #expect(direct.finish() == 0, "\(direct.errors)")
        #expect(unlink(real + "/x") == 0 && rmdir(real) == 0)
    }

    @Test("a folder that is not there is told, with the file")
    func missingFolder() throws {
        let daemon = try Self.answering()
        let run = try CommandRun(daemon, "stats", "--prometheus", "--output", "/nowhere/x.prom")
        #expect(run.finish() == 1)
        #expect(
            run.errors == "bgtaskctl: cannot write /nowhere/x.prom: No such file or directory\n")
    }

    @Test(
        "what contradicts itself is refused",
        arguments: [
            ["--openmetrics", "--prometheus"], ["--json", "--openmetrics"], ["--output", "/tmp/x"],
            ["--prometheus", "--output", ""], ["--prometheus", "--output", "/tmp/"],
        ])
    func refused(arguments: [String]) throws {
        let run = try CommandRun(
            [CommandRun.program, "stats"] + arguments, ["PATH=/usr/bin:/bin"])
        #expect(run.finish() == 64)
    }
}

/// A folder of a test's own with what is written there, which goes with it.
private final class ScratchFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/bgtaskctl-test.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SupportError("mkdtemp") }
        path = String(
            decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func text(_ name: String) -> String? {
        guard let file = fopen(path + "/" + name, "r") else { return nil }
        defer { fclose(file) }
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = fread(&buffer, 1, buffer.count, file)
        return String(decoding: buffer[..<count], as: UTF8.self)
    }

    deinit {
        for name in names { unlink(path + "/" + name) }
        rmdir(path)
    }
}
