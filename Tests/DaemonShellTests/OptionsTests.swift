import DaemonShell
import Testing

@Suite("The daemon's command line")
struct OptionsTests {
    @Test("is empty, or names what it names, in one word or two")
    func values() throws {
        let none = try Options([])
        #expect(none.order == .serve && none.scope == nil && none.config == nil)
        for words in [
            ["--config", "a=b", "--socket=/s", "--state-dir", "/d", "--system"],
            ["--system", "--state-dir=/d", "--socket", "/s", "--config=a=b"],
        ] {
            let options = try Options(words)
            #expect(options.config == "a=b" && options.socket == "/s")
            #expect(options.stateFolder == "/d" && options.scope == .system)
        }
        #expect(try Options(["--socket", "/a", "--socket", "/b"]).socket == "/b")
    }

    @Test("orders a check, the help or the version, whatever follows that")
    func orders() throws {
        #expect(try Options(["--check-config", "--user"]).order == .checkConfig)
        #expect(try Options(["--check-config", "--quiet"]).isQuiet)
        #expect(try Options(["--user", "--version", "--what"]).order == .showVersion)
        for word in ["-h", "--help"] { #expect(try Options([word]).order == .showHelp) }
    }

    @Test(
        "says what is wrong with it",
        arguments: [
            (["--config"], "the option --config needs a value"),
            (["--socket="], "the option --socket needs a value"),
            (["--state-dir", "--check-config"], "the option --state-dir needs a value"),
            (["--quiet"], "--quiet goes with --check-config alone"),
            (["--user=yes"], "the option --user takes no value"),
            (["--user", "--system"], "--user and --system exclude each other"),
            (["--conf", "x"], "unknown option --conf"),
            (["-x"], "unknown option -x"),
            (["serve"], "unexpected argument 'serve'"),
        ])
    func wrong(words: [String], text: String) {
        #expect(throws: Options.UsageError(text: text)) { try Options(words) }
    }

    @Test("the help names each option")
    func help() {
        for option in ["--config", "--user", "--system", "--socket", "--state-dir", "--help"] {
            #expect(Options.help.contains("  \(option)") || Options.help.contains(", \(option)"))
        }
    }
}
