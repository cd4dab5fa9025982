import Settings
import TestKit
import Testing

/// The file that is installed, as lines.
func configurationLines() throws -> [String] {
    let parts = #filePath.split(separator: "/").dropLast(3)
    let file = "/" + parts.joined(separator: "/") + "/config/bgtaskd.toml"
    let text = String(decoding: try SettingsFile.read(file), as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
}

/// The file with every setting switched on: `#key = value` is a setting, `# text` is not.
func uncommentedConfiguration() throws -> String {
    try configurationLines().map { line in
        line.hasPrefix("#") && line.dropFirst().first?.isLetter == true
            ? String(line.dropFirst()) : line
    }.joined(separator: "\n")
}

@Suite("config/bgtaskd.toml")
struct ConfigurationFileTests {
    @Test("as installed it sets nothing")
    func setsNothing() throws {
        let loaded = try load(configurationLines().joined(separator: "\n"))
        #expect(loaded.settings == Settings())
        #expect(loaded.described() == LoadedSettings().described())
    }

    @Test("with every setting switched on it says exactly the defaults")
    func saysTheDefaults() throws {
        let loaded = try load(uncommentedConfiguration())
        #expect(loaded.settings == Settings())
    }

    @Test("no key is missing in it, and only the profile nobody can change is left out")
    func isComplete() throws {
        let loaded = try load(uncommentedConfiguration())
        let unset = loaded.described().filter { $0.source == .builtIn }.map(\.key)
        #expect(unset.allSatisfy { $0.hasPrefix("profiles.unlimited.") }, "\(unset)")
    }

    @Test("it explains each key with the table's words, its range and when it is in force")
    func explains() throws {
        let lines = try configurationLines()
        var explained = 0
        for key in Settings.keys.map({ ($0.name, $0.meaning, $0.type, $0.changes) })
            + Settings.Profile.keys.map({ ("default.\($0.name)", $0.meaning, $0.type, $0.changes) })
        {
            let (section, name) = (key.0.split(separator: ".")[0], key.0.split(separator: ".")[1])
            let header = section == "default" ? "[profiles.default]" : "[\(section)]"
            let start = try #require(lines.firstIndex(of: header))
            let line = try #require(lines[start...].firstIndex { $0.hasPrefix("#\(name) = ") })
            let block = lines[..<line].reversed().prefix { $0.hasPrefix("# ") }.reversed()
                .map { $0.dropFirst(2) }.joined(separator: " ")
            #expect(block.hasPrefix(key.1), "\(key.0)")
            #expect(block.lowercased().contains(key.2.description.lowercased()), "\(key.0)")
            #expect(block.contains("after a restart") == (key.3 == .byRestart), "\(key.0)")
            explained += 1
        }
        #expect(explained > 32)
    }

    @Test("ten thousand mutations of it never trap")
    func mutations() throws {
        let settings = try uncommentedConfiguration().split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
        let original = Array(("# settings\n" + settings.joined(separator: "\n")).utf8)
        let pieces = [
            "[", "]", "[[", "{", "}", "=", ".", "\"", "'", "\"\"\"", "'''", "\\u0000",
            "\\U00110000",
            "\u{0}", "\r", "\n", "#", ",", "-", "1979-05-27T07:32:00Z", "0x",
            "99999999999999999999",
            "nan", "true", "profiles", "a.a.a.a", "\u{FEFF}", "infinity", "_",
        ].map { Array($0.utf8) }
        for seed in UInt64(0)..<Effort.choose(10_000) {
            var generator = SeededGenerator(seed: seed)
            var bytes = original
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                mutate(&bytes, pieces, &generator)
            }
            var merge = SettingsMerge()
            merge.apply(bytes, from: "seed \(seed)")
            merge.finish()
            for error in merge.errors {
                #expect(!error.description.utf8.contains { $0 < 0x20 }, "seed \(seed)")
            }
        }
    }

    private func mutate(
        _ bytes: inout [UInt8],
        _ pieces: [[UInt8]],
        _ generator: inout SeededGenerator
    ) {
        guard !bytes.isEmpty else { return }
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        let end = min(bytes.count, place + Int.random(in: 0...40, using: &generator))
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(contentsOf: Array(bytes[place..<end]), at: place)
        case 3: bytes.removeSubrange(place...)
        default: bytes.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: place)
        }
    }
}
