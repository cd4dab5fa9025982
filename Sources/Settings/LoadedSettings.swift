/// Who set a value.
package enum SettingsSource: Sendable, Equatable, CustomStringConvertible {
    case builtIn
    case file(String)
    case commandLine

    /// `default`, the file's path, or `command line`.
    package var description: String {
        switch self {
        case .builtIn: "default"
        case .file(let path): path
        case .commandLine: "command line"
        }
    }
}

/// A setting as `Describe` answers it.
package struct DescribedSetting: Sendable, Equatable {
    package let key: String
    package let value: String
    package let source: SettingsSource
    package let changes: SettingChange
}

/// What `Reload` answers: the keys whose value differs, in the order of the table.
package struct SettingsDifference: Sendable, Equatable {
    /// In force now.
    package var changed: [String] = []
    /// In force only after a restart.
    package var needRestart: [String] = []

    package init() {}

    package init(changed: [String] = [], needRestart: [String] = []) {
        self.changed = changed
        self.needRestart = needRestart
    }
}

/// The settings in force, and where each came from.
package struct LoadedSettings: Sendable, Equatable {
    package private(set) var settings: Settings
    /// The files that were read, in order.
    package private(set) var files: [String]
    private var origins: [String: SettingsOrigin]

    init(settings: Settings, files: [String], origins: [String: SettingsOrigin]) {
        self.settings = settings
        self.files = files
        self.origins = origins
    }

    /// The defaults alone.
    package init() {
        self.init(settings: Settings(), files: [], origins: [:])
    }

    /// All settings, then those of the groups, then those of the profiles; both by name.
    package func described() -> [DescribedSetting] {
        let plain = Settings.keys.map { key in
            describe(key.name, key.value(settings), key.changes)
        }
        let groups = settings.groupList.flatMap { group in
            Settings.Group.keys.map { key in
                describe(
                    keyPathText(["queue", "groups", group.name, key.name]),
                    key.value(group),
                    key.changes
                )
            }
        }
        let profiles = settings.profileList.flatMap { profile in
            Settings.Profile.keys.map { key in
                describe(
                    keyPathText(["profiles", profile.name, key.name]),
                    key.value(profile),
                    key.changes
                )
            }
        }
        return plain + groups + profiles
    }

    private func describe(
        _ key: String,
        _ value: SettingValue,
        _ changes: SettingChange
    ) -> DescribedSetting {
        DescribedSetting(
            key: key,
            value: value.description,
            source: origins[key]?.source ?? .builtIn,
            changes: changes
        )
    }

    /// Takes over what a reload can change, and leaves what needs a restart as it is.
    ///
    /// A profile or a group that was added or removed counts with each of its keys.
    ///
    /// - Returns: what differs; a key that needs a restart is named again at every reload until
    ///   then.
    package mutating func reload(_ new: LoadedSettings) -> SettingsDifference {
        let difference = difference(to: new)
        var next = new
        for key in Settings.keys where key.changes == .byRestart {
            key.copy(settings, &next.settings)
            next.origins[key.name] = origins[key.name]
        }
        self = next
        return difference
    }

    /// What a reload of the new settings would answer.
    package func difference(to new: LoadedSettings) -> SettingsDifference {
        let old = described()
        let next = new.described()
        let oldValues = Dictionary(uniqueKeysWithValues: old.map { ($0.key, $0.value) })
        let newKeys = Set(next.map(\.key))
        var difference = SettingsDifference()
        let gone = old.filter { !newKeys.contains($0.key) }
        for setting in next.filter({ oldValues[$0.key] != $0.value }) + gone {
            switch setting.changes {
            case .byReload: difference.changed.append(setting.key)
            case .byRestart: difference.needRestart.append(setting.key)
            }
        }
        return difference
    }
}
