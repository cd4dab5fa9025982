import Glibc
import TestKit
import Testing
import Varlink

/// What others have named, in the shells that complete it for a person at a terminal.
@Suite("Shells")
struct ShellTests {
    /// All that a shell could take for more than a letter, as the first and the last part of what stands around the
    /// path of a program.
    private static let hostile: [(String, String)] =
        (0x20..<0x7F).map { Character(Unicode.Scalar($0)) }
        .filter { !$0.isLetter && !$0.isNumber && !plain.contains(String($0)) }
        .map { (String($0), String($0)) } + [
            ("$(", ")"), ("${", "}"), ("$((", "))"), ("<(", ")"), ("(", ")"), ("{a,b}", ""),
            ("\\`", "\\`"), ("\\$(", ")"), ("\"`", "\"`"), ("'`", "'`"), ("'\u{301}`", "`"),
            ("ä`", "ä`"), ("!!", ""), ("!#", ""), ("$'", "'"), ("[a-z]*", ""),
            ("\u{3000}", "\u{3000}"),
        ]
    private static let plain = ["_", ".", ",", ":", "@", "+", "/", "-", "é", "e\u{301}", "日本"]

    private let folder: TemporaryFolder
    private let daemon: DaemonProcess
    private let client: VarlinkClient
    private var words: String { folder.path + "/words" }
    private var evil: String { folder.path + "/bin/evil" }
    private var traces: String { folder.path + "/traces" }

    init() throws {
        folder = try TemporaryFolder()
        daemon = try DaemonProcess(.supervisor)
        client = try daemon.connect()
        for name in ["bin", "files", "functions", "generated", "empty"] {
            mkdir("\(folder.path)/\(name)", 0o700)
        }
        // What is run leaves its words; what asks for words to complete is the program itself.
        try program(
            "bgtaskctl",
            """
            if [ "$1" = ---completion ]; then exec \(Programs.path("bgtaskctl")) "$@"; fi
            printf '%s\\0' "$@" >\(words).new
            mv \(words).new \(words)
            """)
        try program("evil", "echo evil >>\(traces)")
    }

    private func program(_ name: String, _ script: String) throws {
        let path = "\(folder.path)/bin/\(name)"
        try Files.write("#!/bin/sh\n\(script)\n", to: path)
        chmod(path, 0o700)
    }

    /// A shell with the completions that are installed, and without any settings of its own.
    private func start(_ shell: String) throws -> TerminalSession {
        let completions = "\(Programs.folder)/completions/bgtaskctl.\(shell)"
        try #require(Files.exists(completions), "make stripped writes it")
        try #require(Files.exists("/usr/bin/\(shell)"), "\(shell) is not installed; see .ci/deps")
        let home = folder.path
        switch shell {
        case "bash": try Files.write(". \(completions)\n", to: "\(home)/.bashrc")
        case "zsh":
            try Files.copy(completions, to: "\(home)/functions/_bgtaskctl")
            try Files.write(
                "fpath=(\(home)/functions $fpath); autoload -Uz compinit; compinit -u -D\n",
                to: "\(home)/.zshrc")
        default:
            // Otherwise it reads all manual pages first.
            for path in ["fish", "fish/generated_completions", "fish/completions"] {
                mkdir("\(home)/\(path)", 0o700)
            }
            try Files.copy(completions, to: "\(home)/fish/completions/bgtaskctl.fish")
        }
        return try TerminalSession(
            "cd \(home)/empty; exec \(shell) -i",
            environment: [
                "PATH=\(home)/bin:/usr/bin:/bin", "HOME=\(home)", "XDG_CONFIG_HOME=\(home)",
                "XDG_DATA_HOME=\(home)", "TERM=xterm", "LC_ALL=C.UTF-8",
                "BGTASK_SOCKET=\(daemon.socketPath)",
            ])
    }

    /// What bgtaskctl is called with where a line is typed, completed and entered.
    private func lastWord(of line: String, in terminal: TerminalSession) throws -> String {
        unlink(words)
        terminal.press("\(line)\t\r")
        try terminal.wait(for: "what bgtaskctl gets for \(line)") { _ in Files.exists(words) }
        return Files.text(words).split(separator: "\0").last.map(String.init) ?? ""
    }

    /// How a name begins: with what is in no other, not even with other letters between.
    private func start(_ number: Int) -> String {
        "q" + String(number + 10) + "qqqqqqqq"
    }

    @Test(
        "a task's name is completed whole where no shell knows what is in it, and else its number at most",
        arguments: ["bash", "zsh", "fish"])
    func names(_ shell: String) throws {
        let forms = Self.hostile + Self.plain.map { ($0, $0) }
        let terminal = try start(shell)
        defer { #expect(Files.text(traces) == "") }
        for (number, (first, last)) in forms.enumerated() {
            let name = "\(start(number))\(first)\(evil)\(last)z"
            // One after the other: a task ends by itself after three minutes, and a shell may take as long for all of them.
            let id = try client.begin(name)
            let isPlain = number >= Self.hostile.count
            let word = try lastWord(of: "bgtaskctl cancel \(start(number))", in: terminal)
            // fish finds the number by the name that is shown beside it.
            let other = shell == "fish" ? "\(id)" : start(number)
            #expect(word == (isPlain ? name : other))
        }
    }

    @Test(
        "a file's name is completed whole, whatever is in it", arguments: ["bash", "zsh", "fish"])
    func files(_ shell: String) throws {
        let forms = (Self.hostile + Self.plain.map { ($0, $0) }).filter { !$0.0.contains("/") }
        var names: [String] = []
        for (number, (first, last)) in forms.enumerated() {
            names.append("\(start(number))\(first)evil\(last)z")
            try Files.write("", to: "\(folder.path)/files/\(names[number])")
        }
        let terminal = try start(shell)
        defer { #expect(Files.text(traces) == "") }
        for (number, name) in names.enumerated() {
            let place = "\(folder.path)/files/"
            let line = "bgtaskctl run --input \(place)\(start(number))"
            #expect(try lastWord(of: line, in: terminal) == place + name)
        }
    }
}
