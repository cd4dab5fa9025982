internal import ArgumentParser
internal import DaemonShell
internal import Glibc
internal import LinuxSystem
internal import Settings
internal import Systemd
internal import TaskAPI

/// The daemon's command line.
@main
struct BgtaskdCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bgtaskd",
        abstract: "Lends programs a limited time to finish background work, and takes it back.",
        version: Version.current
    )

    @Option(help: ArgumentHelp("Read the settings in FILE and FILE.d.", valueName: "FILE"))
    var config: String?

    @Flag(help: "Whom to serve. root: the system, everyone else: themselves.")
    var scope: ScopeFlag?

    @Option(help: ArgumentHelp("Listen here.", valueName: "PATH"))
    var socket: String?

    @Option(help: ArgumentHelp("Keep the state here.", valueName: "DIR"))
    var stateDir: String?

    @Flag(help: "Say what is wrong with the settings, and end.")
    var checkConfig = false

    enum ScopeFlag: EnumerableFlag {
        case user, system
    }

    mutating func run() throws {
        let environment = ProcessEnvironment.variables()
        let scope: Configuration.Scope =
            switch self.scope {
            case .user: .user
            case .system: .system
            case nil: geteuid() == 0 ? .system : .user
            }
        // Before all that may fail: who called is told then.
        let inherited = checkConfig ? [] : try ListenDescriptor.take()
        let callers = WaitingCallers(inherited)
        do {
            var configuration = try Configuration(
                scope: scope, config: config, socket: socket, stateFolder: stateDir,
                environment: environment)
            let loaded = try SettingsLoader(location: configuration.settingsLocation).load()
            let checks = Preflight(
                configuration: configuration, settings: loaded.settings, isStart: !checkConfig)
            let findings = checks.findings()
            if !findings.isEmpty { throw Self.end(findings, all: checkConfig) }
            if checkConfig {
                return print(([Self.sayFine(loaded)] + checks.notes()).joined(separator: "\n"))
            }
            configuration.operatorsGroup = try checks.operatorsGroup()
            configuration.access = try checks.access()
            let status = try Bootstrap.serve(configuration, loaded, inherited)
            throw ExitCode(status)
        } catch let failure as StartFailure {
            callers.sendAway()
            throw Self.end(failure.description, failure.status)
        } catch let error as SettingsErrors {
            callers.sendAway()
            throw Self.end(error.description, ExitStatus.settings)
        } catch let error as Configuration.Missing {
            callers.sendAway()
            throw Self.end(error.description, ExitStatus.settings)
        }
    }

    private static func sayFine(_ loaded: LoadedSettings) -> String {
        loaded.files.isEmpty
            ? "no settings files, so all settings have their defaults"
            : "fine: " + loaded.files.joined(separator: ", ")
    }

    /// All that was found wrong, or for a start the first of it; the status is the first's.
    private static func end(_ findings: [StartFailure], all: Bool) -> ExitCode {
        let told = all ? findings : Array(findings.prefix(1))
        return end(
            told.map(\.description).joined(separator: "\n"),
            findings.first?.status ?? ExitStatus.software)
    }

    /// One plain line on standard error for each thing that is wrong, and a status of its own.
    private static func end(_ text: String, _ status: Int32) -> ExitCode {
        for line in text.split(separator: "\n") {
            let bytes = Array("bgtaskd: \(line)\n".utf8)
            _ = write(STDERR_FILENO, bytes, bytes.count)
        }
        return ExitCode(status)
    }
}

/// The process's own environment.
enum ProcessEnvironment {
    static func variables() -> [String: String] {
        var result: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") {
                result[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            next += 1
        }
        return result
    }
}
