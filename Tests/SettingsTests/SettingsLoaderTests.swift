import Glibc
import Settings
import Testing

@Suite("Loading settings")
struct SettingsLoaderTests {
    @Test(
        "drop-ins follow the file by name, the command line comes last, and each key says who set it"
    )
    func order() throws {
        let folder = try TestFolder()
        let main = try folder.write(
            "c.toml",
            "[queue]\nslots = 1\n[limits]\nclientsMax = 1\nendedHeldMax = 1\n"
        )
        let ten = try folder.write(
            "c.toml.d/10-a.toml",
            "[limits]\nclientsMax = 10\noutputBytesMax = 10\n"
        )
        let nine = try folder.write("c.toml.d/9-b.toml", "limits.outputBytesMax = 9\n")
        try folder.write("c.toml.d/.hidden.toml", "rubbish")
        try folder.write("c.toml.d/note.txt", "rubbish")
        let loaded = try SettingsLoader(
            location: .named(main),
            overrides: [SettingsOverride(key: "daemon.logLevel", text: "debug")]
        ).load()
        #expect(loaded.files == [main, ten, nine])
        let limits = loaded.settings.limits
        #expect(loaded.settings.queue.slots == 1)
        #expect([limits.endedHeldMax, limits.clientsMax, limits.outputBytesMax] == [1, 10, 9])
        #expect(loaded.settings.daemon.logLevel == .debug)
        let sources = Dictionary(
            uniqueKeysWithValues: loaded.described().map { ($0.key, $0.source.description) }
        )
        #expect(sources["limits.endedHeldMax"] == main)
        #expect(sources["limits.clientsMax"] == ten)
        #expect(sources["limits.outputBytesMax"] == nine)
        #expect(sources["daemon.logLevel"] == "command line")
        #expect(sources["limits.frameBytesMax"] == "default")
    }

    @Test("profiles are merged by name, key by key")
    func profiles() throws {
        let folder = try TestFolder()
        let main = try folder.write(
            "c",
            "[profiles.nightly]\nduration = \"2h\"\n[profiles.default]\ngrace = \"9s\"\n"
        )
        try folder.write(
            "c.d/a.toml",
            "profiles.nightly = {grace = \"1min\"}\n[profiles.\"a.b\"]\n"
        )
        let loaded = try SettingsLoader(location: .named(main)).load()
        let nightly = try #require(loaded.settings.profiles["nightly"])
        #expect(nightly.duration == .seconds(7200))
        #expect(nightly.grace == .seconds(60))
        #expect(nightly.lifetimeMax == .seconds(7200))
        #expect(loaded.settings.profiles["default"]?.grace == .seconds(9))
        #expect(loaded.settings.profiles["default"]?.duration == .seconds(180))
        #expect(loaded.settings.profiles["a.b"] == Settings.Profile(name: "a.b"))
        #expect(loaded.described().contains { $0.key == "profiles.\"a.b\".grace" })
        let names = loaded.settings.profileList.map(\.name)
        #expect(names == ["a.b", "default", "extended", "long", "nightly", "short", "unlimited"])
    }

    @Test("where lifetimeMax is absent it is 600 s, or the duration where that is longer")
    func lifetime() throws {
        let longer = try load("[profiles.default]\nduration = \"1000s\"\n").settings
        #expect(longer.profiles["default"]?.lifetimeMax == .seconds(1000))
        let shorter = try load("[profiles.extended]\nduration = \"10s\"\n").settings
        #expect(shorter.profiles["extended"]?.lifetimeMax == .seconds(600))
        let set = try load("[profiles.default]\nlifetimeMax = \"180s\"\n").settings
        #expect(set.profiles["default"]?.lifetimeMax == .seconds(180))
        #expect(set.profiles["unlimited"]?.lifetimeMax == nil)
    }

    @Test("infinity switches off the warning and the history's age")
    func infinity() throws {
        let settings = try load(
            "budget.warnAfter = \"infinity\"\nstore.historyAge = \"infinity\"\n"
        ).settings
        #expect(settings.budget.warnAfter == nil)
        #expect(settings.store.historyAge == nil)
    }

    @Test("a grace is judged after the merge and blamed on the file that set it")
    func graceAfterMerge() throws {
        let folder = try TestFolder()
        let main = try folder.write("c", "[profiles.x]\nduration = \"1min\"\n")
        let first = try folder.write("c.d/1.toml", "[profiles.x]\ngrace = \"2min\"\n")
        let errors = #expect(throws: SettingsErrors.self) {
            try SettingsLoader(location: .named(main)).load()
        }
        #expect(
            errors?.description
                == "\(first):2:1: profiles.x.grace: 2min is not shorter than the duration, 1min (\(main))"
        )
        try folder.write("c.d/2.toml", "[profiles.x]\nduration = \"3min\"\n")
        let merged = try SettingsLoader(location: .named(main)).load()
        #expect(merged.settings.profiles["x"]?.grace == .seconds(120))
    }

    @Test("missing default files are fine, a missing named one is not")
    func missing() throws {
        let folder = try TestFolder()
        let file = folder.path + "/none.toml"
        let defaults = SettingsLocation(file: file, isRequired: false)
        #expect(try SettingsLoader(location: defaults).load() == LoadedSettings())
        #expect(try SettingsLoader(location: nil).load() == LoadedSettings())
        let errors = #expect(throws: SettingsErrors.self) {
            try SettingsLoader(location: .named(file)).load()
        }
        #expect(errors?.description == "\(file): No such file or directory")
        #expect(errors?.first.line == nil)
    }

    @Test("drop-ins count also where the main file is missing")
    func dropInsAlone() throws {
        let folder = try TestFolder()
        try folder.write("b.toml.d/x.toml", "queue.slots = 9\n")
        let location = SettingsLocation(file: folder.path + "/b.toml", isRequired: false)
        #expect(try SettingsLoader(location: location).load().settings.queue.slots == 9)
    }

    @Test("what cannot be read is named with the reason, and /dev/null is an empty file")
    func unreadable() throws {
        let folder = try TestFolder()
        try folder.write("c.toml.d/dir.toml/x", "")
        symlink(folder.path + "/nowhere", folder.path + "/c.toml.d/gone.toml")
        symlink("/dev/null", folder.path + "/c.toml.d/masked.toml")
        mkfifo(folder.path + "/c.toml.d/pipe.toml", 0o600)
        let main = try folder.write("c.toml", "")
        let errors = #expect(throws: SettingsErrors.self) {
            try SettingsLoader(location: .named(main)).load()
        }
        #expect(
            errors?.all.map(\.description) == [
                "\(main).d/dir.toml: Is a directory",
                "\(main).d/gone.toml: No such file or directory",
                "\(main).d/pipe.toml: not a regular file",
            ]
        )
        let endless = #expect(throws: SettingsErrors.self) {
            try SettingsLoader(location: .named("/dev/zero")).load()
        }
        #expect(endless?.description == "/dev/zero:1:1: larger than 1048576 bytes")
    }

    @Test("the mistakes of all files are reported together, in their order")
    func allFiles() throws {
        let folder = try TestFolder()
        let main = try folder.write("c", "[queue]\nslots = 0\n")
        try folder.write("c.d/a.toml", "[queue\n")
        try folder.write("c.d/b.toml", "slot = 1\n")
        let errors = #expect(throws: SettingsErrors.self) {
            try SettingsLoader(
                location: .named(main),
                overrides: [SettingsOverride(key: "queue.slots", text: "many")]
            ).load()
        }
        #expect(
            errors?.all.map(\.file) == [
                main, "\(main).d/a.toml", "\(main).d/b.toml", "command line",
            ]
        )
    }

    @Test("the user's files are where XDG says")
    func userLocation() {
        func file(_ environment: [String: String]) -> String? {
            SettingsLocation.user(environment: environment)?.file
        }
        #expect(file(["XDG_CONFIG_HOME": "/x", "HOME": "/h"]) == "/x/bgtaskd/bgtaskd.toml")
        #expect(file(["HOME": "/h"]) == "/h/.config/bgtaskd/bgtaskd.toml")
        #expect(file(["XDG_CONFIG_HOME": "x", "HOME": "/h"]) == "/h/.config/bgtaskd/bgtaskd.toml")
        #expect(file(["XDG_CONFIG_HOME": ""]) == nil)
        #expect(SettingsLocation.system.file == "/etc/bgtaskd/bgtaskd.toml")
    }

    @Test(
        "an override is refused like a file's value, and names the command line",
        arguments: [
            (
                "queue.slots", "0",
                "queue.slots: 0 is out of range: expected a whole number from 1 to 10000"
            ),
            ("queue.slot", "1", "queue.slot: unknown key; did you mean queue.slots?"),
            (
                "applications.enforce", "yes",
                "applications.enforce: expected true or false, found the string \"yes\""
            ),
            ("profiles.default.grace.x", "1s", "profiles.default.grace.x: unknown key"),
            ("queue.", "1", "\"queue.\" is not a key: expected a key, found the end of the file"),
            ("queue.slots x", "1", "\"queue.slots x\" is not a key: found \"x\" after the key"),
            ("profiles", "1", "profiles: expected a table, found the string \"1\""),
        ]
    )
    func badOverrides(_ key: String, _ text: String, _ message: String) throws {
        let errors = #expect(throws: SettingsErrors.self) {
            try load("", overrides: [SettingsOverride(key: key, text: text)])
        }
        #expect(errors?.description == "command line: " + message)
    }

    @Test("overrides of every type are taken")
    func overrides() throws {
        let settings = try load(
            "",
            overrides: [
                SettingsOverride(key: "queue.slots", text: "7"),
                SettingsOverride(key: "applications.enforce", text: "false"),
                SettingsOverride(key: "profiles.short.grace", text: "1s"),
                SettingsOverride(key: "daemon.containment", text: "supervisor"),
                SettingsOverride(key: "access.confinedUsers", text: "www-data,1001"),
            ]
        ).settings
        #expect(settings.access.confinedUsers == ["www-data", "1001"])
        #expect(settings.queue.slots == 7)
        #expect(!settings.applications.enforce)
        #expect(settings.profiles["short"]?.grace == .seconds(1))
        #expect(settings.daemon.containment == .supervisor)
    }
}

@Suite("Reloading settings")
struct SettingsReloadTests {
    @Test("a reload changes what it can, and names what waits for a restart until there is one")
    func reload() throws {
        var running = try load("[queue]\nslots = 2\n")
        let next = try load("[queue]\nslots = 3\n[store]\ndurability = \"memory\"\n")
        let expected = SettingsDifference(
            changed: ["queue.slots"],
            needRestart: ["store.durability"]
        )
        #expect(running.difference(to: next) == expected)
        #expect(running.reload(next) == expected)
        #expect(running.settings.queue.slots == 3)
        #expect(running.settings.store.durability == .commit)
        let described = running.described().first { $0.key == "store.durability" }
        #expect(described?.value == "commit")
        #expect(described?.source == .builtIn)
        #expect(running.reload(next) == SettingsDifference(needRestart: ["store.durability"]))
    }

    @Test("a profile that comes, changes or goes is named with its keys")
    func profiles() throws {
        let without = try load("")
        let with = try load("[profiles.x]\nduration = \"1h\"\n")
        let keys = ["duration", "grace", "lifetimeMax", "enabled"].map { "profiles.x.\($0)" }
        #expect(without.difference(to: with).changed == keys)
        #expect(with.difference(to: without).changed == keys)
        let changed = try load("[profiles.x]\nduration = \"1h\"\ngrace = \"6s\"\n")
        #expect(with.difference(to: changed).changed == ["profiles.x.grace"])
    }

    @Test("the same value from another place is no difference")
    func sameValue() throws {
        let same = try load("[queue]\nslots = 4\n[profiles.default]\nduration = \"3min\"\n")
        #expect(LoadedSettings().difference(to: same) == SettingsDifference())
    }

    @Test("each setting alone is one difference, of the kind that its key says")
    func eachSetting() throws {
        for key in Settings.keys {
            let (name, text) = (key.name, other(key))
            let next = try load("", overrides: [SettingsOverride(key: name, text: text)])
            let difference = LoadedSettings().difference(to: next)
            #expect(difference.changed == (key.changes == .byReload ? [name] : []))
            #expect(difference.needRestart == (key.changes == .byRestart ? [name] : []))
        }
    }

    /// A value that is good and not the default.
    private func other(_ key: SettingKey<Settings>) -> String {
        switch key.value(Settings()) {
        case .integer(let number): String(number > 0 ? number - 1 : 1)
        case .time(let duration): TimeSpan.finite((duration ?? .zero) + .seconds(1)).description
        case .flag(let flag): String(!flag)
        case .words: "bgtask,1001"
        case .word:
            if case .choice(let words) = key.type { words.last ?? "" } else { "bgtask" }
        }
    }
}
