internal import DaemonShell
internal import Glibc
internal import LinuxSystem
internal import Settings
internal import Systemd
internal import TaskAPI

/// The daemon's program.
@main
enum BgtaskdCommand {
    static func main() {
        do throws(Options.UsageError) {
            let options = try Options(CommandLine.arguments.dropFirst())
            switch options.order {
            case .showHelp: print(Options.help, terminator: "")
            case .showVersion: print(Version.current)
            case .serve, .checkConfig: exit(run(options))
            }
        } catch {
            // Who called is told.
            WaitingCallers((try? ListenDescriptor.take()) ?? []).sendAway()
            exit(end("\(error.text); see: bgtaskd --help", ExitStatus.usage))
        }
    }

    /// Serves until it is told to stop, or checks whether it would.
    ///
    /// - Returns: the exit status.
    private static func run(_ options: Options) -> Int32 {
        let environment = ProcessEnvironment.variables()
        let scope: Configuration.Scope =
            switch options.scope {
            case .user: .user
            case .system: .system
            case nil: geteuid() == 0 ? .system : .user
            }
        // Before all that may fail: who called is told then.
        let inherited: [ListenDescriptor]
        let checkConfig = options.order == .checkConfig
        do {
            inherited = checkConfig ? [] : try ListenDescriptor.take()
        } catch {
            return end("\(error)", ExitStatus.software)
        }
        let callers = WaitingCallers(inherited)
        do {
            var configuration = try Configuration(
                scope: scope, config: options.config, socket: options.socket,
                stateFolder: options.stateFolder,
                environment: environment)
            configuration.executorPath = options.executor
            let loaded = try SettingsLoader(location: configuration.settingsLocation).load()
            let checks = Preflight(
                configuration: configuration, settings: loaded.settings, isStart: !checkConfig)
            let findings = checks.findings()
            if !findings.isEmpty { return end(findings, all: checkConfig) }
            if checkConfig {
                let lines = [sayFine(loaded)] + checks.notes()
                if !options.isQuiet { print(lines.joined(separator: "\n")) }
                return 0
            }
            configuration.operatorsGroup = try checks.operatorsGroup()
            configuration.access = try checks.access()
            return try Bootstrap.serve(configuration, loaded, inherited)
        } catch let failure as StartFailure {
            callers.sendAway()
            return end(failure.description, failure.status)
        } catch let error as SettingsErrors {
            callers.sendAway()
            return end(error.description, ExitStatus.settings)
        } catch let error as Configuration.Missing {
            callers.sendAway()
            return end(error.description, ExitStatus.settings)
        } catch {
            callers.sendAway()
            return end("\(error)", ExitStatus.software)
        }
    }

    private static func sayFine(_ loaded: LoadedSettings) -> String {
        loaded.files.isEmpty
            ? "no settings files, so all settings have their defaults"
            : "fine: " + loaded.files.joined(separator: ", ")
    }

    /// All that was found wrong, or for a start the first of it; the status is the first's.
    private static func end(_ findings: [StartFailure], all: Bool) -> Int32 {
        let told = all ? findings : Array(findings.prefix(1))
        return end(
            told.map(\.description).joined(separator: "\n"),
            findings.first?.status ?? ExitStatus.software)
    }

    /// One plain line on standard error for each thing that is wrong, and a status of its own.
    private static func end(_ text: String, _ status: Int32) -> Int32 {
        for line in text.split(separator: "\n") {
            let bytes = Array("bgtaskd: \(line)\n".utf8)
            _ = write(STDERR_FILENO, bytes, bytes.count)
        }
        return status
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
