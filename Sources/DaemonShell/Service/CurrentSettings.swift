internal import BudgetCore
package import Settings

/// The settings that hold now.
package final class CurrentSettings {
    private(set) var loaded: LoadedSettings

    package init(_ loaded: LoadedSettings) {
        self.loaded = loaded
    }

    var settings: Settings { loaded.settings }
    package var limits: Settings.Limits { loaded.settings.limits }

    /// Takes what was read anew, as far as it can change while the daemon runs.
    func replace(with new: LoadedSettings) -> SettingsDifference { loaded.reload(new) }
}
