/// Where the settings are.
package struct SettingsLocation: Sendable, Equatable {
    /// The main file; the drop-ins are the `*.toml` in the folder of its name with `.d`.
    package let file: String
    /// Whether the main file must exist.
    package let isRequired: Bool

    package init(file: String, isRequired: Bool) {
        self.file = file
        self.isRequired = isRequired
    }

    /// `/etc/bgtaskd/bgtaskd.toml`.
    package static let system = SettingsLocation(
        file: "/etc/bgtaskd/bgtaskd.toml",
        isRequired: false
    )

    /// `$XDG_CONFIG_HOME/bgtaskd/bgtaskd.toml`, or `~/.config/bgtaskd/bgtaskd.toml`.
    ///
    /// A relative `XDG_CONFIG_HOME` is ignored (XDG Base Directory Specification).
    ///
    /// - Returns: `nil` where the environment names no home either: there are no files then.
    package static func user(environment: [String: String]) -> SettingsLocation? {
        let folder: String
        if let config = environment["XDG_CONFIG_HOME"], config.hasPrefix("/") {
            folder = config
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            folder = home + "/.config"
        } else {
            return nil
        }
        return SettingsLocation(file: folder + "/bgtaskd/bgtaskd.toml", isRequired: false)
    }

    /// What `--config` names, which must exist.
    package static func named(_ file: String) -> SettingsLocation {
        SettingsLocation(file: file, isRequired: true)
    }
}

/// A setting given on the command line.
package struct SettingsOverride: Sendable, Equatable {
    /// The dotted path, as in `Describe`.
    package let key: String
    /// The value as a person types it, without a text's quotes.
    package let text: String

    package init(key: String, text: String) {
        self.key = key
        self.text = text
    }
}

extension LoadedSettings {
    /// Reads the texts of a file and its drop-ins over the defaults, and the overrides over them.
    ///
    /// - Throws: all that is wrong with them.
    package init(
        parsing texts: [[UInt8]], overrides: [SettingsOverride] = []
    ) throws(SettingsErrors) {
        var merge = SettingsMerge()
        for (index, bytes) in texts.enumerated() { merge.apply(bytes, from: "text \(index)") }
        for override in overrides { merge.apply(override) }
        self = try merge.result()
    }
}

/// Reads the settings: defaults, then the file, then its drop-ins by name, then the command line.
///
/// Tables are merged: what comes later replaces single keys.
package struct SettingsLoader: Sendable {
    private let location: SettingsLocation?
    private let overrides: [SettingsOverride]

    /// - Parameters:
    ///   - location: `nil`: no files, only the defaults and the overrides.
    ///   - overrides: What the command line sets; later ones replace earlier ones.
    package init(location: SettingsLocation?, overrides: [SettingsOverride] = []) {
        self.location = location
        self.overrides = overrides
    }

    /// Reads everything again, at the start and at each reload.
    ///
    /// - Throws: all that is wrong with all files; nothing is in force then.
    package func load() throws(SettingsErrors) -> LoadedSettings {
        var merge = SettingsMerge()
        if let location { readFiles(location, into: &merge) }
        for override in overrides { merge.apply(override) }
        return try merge.result()
    }

    private func readFiles(_ location: SettingsLocation, into merge: inout SettingsMerge) {
        readFile(location.file, isRequired: location.isRequired, into: &merge)
        let folder = location.file + ".d"
        do throws(SettingsFile.Failure) {
            for file in try SettingsFile.list(folder) {
                readFile(file, isRequired: true, into: &merge)
            }
        } catch {
            merge.report(error.text, in: .file(folder))
        }
    }

    private func readFile(_ path: String, isRequired: Bool, into merge: inout SettingsMerge) {
        let bytes: [UInt8]
        do throws(SettingsFile.Failure) {
            bytes = try SettingsFile.read(path)
        } catch {
            if isRequired || !error.isMissing { merge.report(error.text, in: .file(path)) }
            return
        }
        merge.apply(bytes, from: path)
    }
}
