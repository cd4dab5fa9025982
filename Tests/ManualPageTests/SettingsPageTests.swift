import Foundation
import Settings
import Testing

@Suite("The manual page of the settings")
struct SettingsPageTests {
    /// A key as the page has it.
    private struct Described {
        var name: String
        var text: String

        /// What stands behind `Default:`, as a file would say it.
        var standard: String? {
            guard let range = text.range(of: "Default: ") else { return nil }
            let rest = text[range.upperBound...]
            return rest.range(of: ".").map { String(rest[..<$0.lowerBound]) }
        }
    }

    private static func described() throws -> [Described] {
        try ManualPage("bgtaskd.toml.5").parts(of: "SETTINGS").flatMap { part in
            let table = part.title.trimmingCharacters(in: ["[", "]"])
            return part.entries.map { Described(name: "\(table).\($0.tag)", text: $0.text) }
        }
    }

    @Test("has every key, and none that does not exist")
    func keys() throws {
        let names =
            Settings.keys.map(\.name) + Settings.Profile.keys.map { "profiles.NAME.\($0.name)" }
            + Settings.Group.keys.map { "queue.groups.NAME.\($0.name)" }
        #expect(try Self.described().map(\.name).sorted() == names.sorted())
    }

    @Test("says of each key what it takes, and whether it waits for a restart")
    func ranges() throws {
        let described = try Self.described()
        let profile = Settings.Profile.keys.map {
            ("profiles.NAME.\($0.name)", $0.type, $0.changes)
        }
        let group = Settings.Group.keys.map {
            ("queue.groups.NAME.\($0.name)", $0.type, $0.changes)
        }
        let plain = Settings.keys.map { ($0.name, $0.type, $0.changes) }
        for (name, type, changes) in plain + profile + group {
            let text = try #require(described.first { $0.name == name }).text
            #expect(text.lowercased().contains(type.description.lowercased()), "\(name)")
            #expect(text.contains("after a restart") == (changes == .byRestart), "\(name)")
        }
    }

    @Test("says the defaults")
    func defaults() throws {
        var text = ""
        for key in try Self.described() where !key.name.hasPrefix("profiles.") {
            let standard = try #require(key.standard, "\(key.name)")
            if key.name.hasPrefix("queue.groups.") {
                let slots = Settings.Group.keys.map { "\($0.value(Settings.Group(name: "x")))" }
                #expect(slots == [standard])
            } else {
                text += "\(key.name) = \(standard)\n"
            }
        }
        let parts = try ManualPage("bgtaskd.toml.5").parts(of: "SETTINGS")
        let profiles = try #require(parts.first { $0.title == "[profiles.NAME]" })
        text += try #require(profiles.examples.first)
        let loaded = try LoadedSettings(parsing: [Array(text.utf8)])
        #expect(loaded.settings == Settings())
        // All was said in the text, but for the profile that nobody can change.
        let unsaid = loaded.described().filter { $0.source == .builtIn }.map(\.key)
        #expect(unsaid.allSatisfy { $0.hasPrefix("profiles.unlimited.") }, "\(unsaid)")
    }

    @Test("shows an example that is good")
    func example() throws {
        let example = try #require(
            try ManualPage("bgtaskd.toml.5").section("EXAMPLES").examples.first)
        let settings = try LoadedSettings(parsing: [Array(example.utf8)]).settings
        #expect(settings.queue.slots == 16)
        #expect(settings.queue.groups["uploads"]?.slots == 2)
        #expect(settings.access.operators == "bgtask")
    }
}
