import Settings

/// Settings files and what is put over them.
enum SettingsTexts {
    /// Parts end at NUL: the file, then its drop-ins; one that begins with `=` is an override, `=KEY=TEXT`.
    static func run(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
        let overrideMark = UInt8(ascii: "=")
        do throws(SettingsErrors) {
            let texts = parts.filter { $0.first != overrideMark }.map(Array.init)
            let overrides = parts.filter { $0.first == overrideMark }.map(override)
            let loaded = try LoadedSettings(parsing: texts, overrides: overrides)
            expectReloads(loaded)
            expectSame(loaded, try LoadedSettings(parsing: texts, overrides: overrides))
        } catch {
            precondition(!error.description.isEmpty)
            for found in error.all {
                precondition(!found.text.contains("\n"), "more than one line: \(found.text)")
            }
        }
        if bytes.count < 256 { readSpan(text(bytes[...])) }
    }

    private static func override(_ part: ArraySlice<UInt8>) -> SettingsOverride {
        let sides = part.dropFirst().split(separator: UInt8(ascii: "="), maxSplits: 1)
        return SettingsOverride(
            key: sides.first.map(text) ?? "", text: sides.dropFirst().first.map(text) ?? "")
    }

    /// From the defaults to these and back: what can change has changed, and the rest is named again.
    private static func expectReloads(_ loaded: LoadedSettings) {
        let same = loaded.difference(to: loaded)
        precondition(same.changed.isEmpty && same.needRestart.isEmpty)
        var settings = LoadedSettings()
        let there = settings.reload(loaded)
        let rest = settings.difference(to: loaded)
        precondition(rest.changed.isEmpty && rest.needRestart == there.needRestart)
        let back = settings.reload(LoadedSettings())
        precondition(back.needRestart.isEmpty && back.changed.sorted() == there.changed.sorted())
        precondition(settings == LoadedSettings())
    }

    /// The same texts, read again by a reload, change nothing and are described in the same words.
    private static func expectSame(_ loaded: LoadedSettings, _ again: LoadedSettings) {
        precondition(again == loaded && again.described() == loaded.described())
        var settings = loaded
        let difference = settings.reload(again)
        precondition(difference.changed.isEmpty && difference.needRestart.isEmpty)
        precondition(settings == loaded, "a reload of the same is something else")
    }

    /// A time is written so that it can be read again.
    private static func readSpan(_ text: String) {
        guard let span = try? TimeSpan(parsing: text) else { return }
        precondition((try? TimeSpan(parsing: span.description)) == span, "\(span)")
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
