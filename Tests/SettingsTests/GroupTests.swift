import Settings
import Testing

@Suite("The groups of the queue in the settings")
struct GroupTests {
    @Test("groups are merged by name over drop-ins, and each slot count says who set it")
    func merge() throws {
        let folder = try TestFolder()
        let main = try folder.write(
            "c", "[queue]\nslots = 9\n[queue.groups.uploads]\nslots = 3\n")
        let dropIn = try folder.write(
            "c.d/a.toml",
            "[queue.groups]\nuploads.slots = 2\nmail = {slots = 4}\n\"a.b\" = {}\n"
        )
        let loaded = try SettingsLoader(
            location: .named(main),
            overrides: [SettingsOverride(key: "queue.groups.mail.slots", text: "5")]
        ).load()
        #expect(loaded.settings.queue.slots == 9)
        #expect(loaded.settings.groupList.map(\.name) == ["a.b", "mail", "uploads"])
        #expect(loaded.settings.groupList.map(\.slots) == [1, 5, 2])
        let described = loaded.described().filter { $0.key.hasPrefix("queue.groups.") }
        #expect(
            described.map { "\($0.key) = \($0.value), \($0.source)" } == [
                "queue.groups.\"a.b\".slots = 1, default",
                "queue.groups.mail.slots = 5, command line",
                "queue.groups.uploads.slots = 2, \(dropIn)",
            ])
    }

    @Test("a group that comes, changes or goes is in force after a reload, and is named")
    func reload() throws {
        var running = try load("")
        let one = try load("[queue.groups.uploads]\nslots = 2\n")
        let other = try load("[queue.groups.uploads]\nslots = 3\n[queue.groups.mail]\n")
        let (uploads, mail) = ("queue.groups.uploads.slots", "queue.groups.mail.slots")
        #expect(running.reload(one) == SettingsDifference(changed: [uploads]))
        #expect(running.settings.queue.groups["uploads"]?.slots == 2)
        #expect(running.reload(other) == SettingsDifference(changed: [mail, uploads]))
        #expect(running.reload(try load("")) == SettingsDifference(changed: [mail, uploads]))
        #expect(running.settings.queue.groups.isEmpty)
    }

    @Test("config/bgtaskd.toml explains a group with the table's words, its range and its default")
    func configuration() throws {
        let lines = try configurationLines()
        let start = try #require(lines.firstIndex(of: "#   [queue.groups.uploads]"))
        let block = lines[start...].prefix { $0.hasPrefix("#") }
        let example = block.filter { $0.hasPrefix("#   ") }.map { String($0.dropFirst(4)) }
        let settings = try load(example.joined(separator: "\n")).settings
        #expect(settings.queue.groups["uploads"]?.slots == 2)
        let text = block.map { $0.dropFirst(2) }.joined(separator: " ")
        for key in Settings.Group.keys {
            #expect(text.contains(key.meaning))
            #expect(text.lowercased().contains(key.type.description.lowercased()))
            #expect(text.contains("Left out: \(key.value(Settings.Group(name: "x")))."))
        }
    }
}
