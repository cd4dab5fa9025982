/// The daemon's command line, read.
///
/// An option and its value stand in two words or in one, with an equals sign; of one that is given twice the last
/// counts.
package struct Options: Equatable {
    package enum Scope: Equatable { case user, system }

    /// What is to be done.
    package enum Order: Equatable { case serve, checkConfig, showHelp, showVersion }

    /// What is wrong with a command line, in words for the person who typed it.
    package struct UsageError: Error, Equatable {
        package let text: String

        package init(text: String) {
            self.text = text
        }
    }

    package private(set) var order = Order.serve
    /// Whether a check says only what is wrong.
    package private(set) var isQuiet = false
    package private(set) var config: String?
    package private(set) var scope: Scope?
    package private(set) var socket: String?
    package private(set) var stateFolder: String?
    /// The socket of bgtask-executor; `nil`: the daemon starts one.
    package private(set) var executor: String?

    package static let help = """
        Runs background work under a time limit.

        Usage: bgtaskd [OPTION...]

          --config FILE    Read the settings in FILE and FILE.d.
          --user           Serve the caller alone; the default for everyone but root.
          --system         Serve all users; the default for root.
          --socket PATH    Listen on this socket.
          --state-dir DIR  Keep the state in this folder.
          --executor PATH  Have the bgtask-executor at this socket run commands, so
                           that they go on over a restart.
          --check-config   Say what is wrong with the settings, and end.
          --quiet          With --check-config: say nothing if nothing is wrong.
          --version        Show the version.
          -h, --help       Show this.

        """

    /// Reads the words after the program's name.
    package init(_ words: some Sequence<String>) throws(UsageError) {
        var words = words.makeIterator()
        while let word = words.next() {
            let (name, attached) = Options.parts(of: word)
            switch name {
            case "--config": config = try Options.value(of: name, attached, next: { words.next() })
            case "--socket": socket = try Options.value(of: name, attached, next: { words.next() })
            case "--executor":
                executor = try Options.value(of: name, attached, next: { words.next() })
            case "--state-dir":
                stateFolder = try Options.value(of: name, attached, next: { words.next() })
            case _ where attached != nil && Options.flags.contains(name):
                throw UsageError(text: "the option \(name) takes no value")
            case "--user": try choose(.user)
            case "--system": try choose(.system)
            case "--check-config": order = .checkConfig
            case "--quiet": isQuiet = true
            case "--version":
                order = .showVersion
                return
            case "-h", "--help":
                order = .showHelp
                return
            case _ where name.hasPrefix("-"): throw UsageError(text: "unknown option \(name)")
            default: throw UsageError(text: "unexpected argument '\(word)'")
            }
        }
        guard order == .checkConfig || !isQuiet else {
            throw UsageError(text: "--quiet goes with --check-config alone")
        }
    }

    private static let flags: Set<String> = [
        "--user", "--system", "--check-config", "--quiet", "--version", "-h", "--help",
    ]

    /// A word as a name and what follows an equals sign in it.
    private static func parts(of word: String) -> (name: String, value: String?) {
        guard word.hasPrefix("--"), let equals = word.firstIndex(of: "=") else {
            return (word, nil)
        }
        return (String(word[..<equals]), String(word[word.index(after: equals)...]))
    }

    /// The value in the same word, or the next word, which is no option.
    private static func value(
        of name: String, _ attached: String?, next: () -> String?
    ) throws(UsageError) -> String {
        let word = attached ?? next()
        guard let word, !word.isEmpty, attached != nil || !word.hasPrefix("-") else {
            throw UsageError(text: "the option \(name) needs a value")
        }
        return word
    }

    private mutating func choose(_ scope: Scope) throws(UsageError) {
        guard self.scope == nil || self.scope == scope else {
            throw UsageError(text: "--user and --system exclude each other")
        }
        self.scope = scope
    }
}
