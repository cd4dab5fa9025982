/// Where a value was set.
struct SettingsOrigin: Sendable, Equatable {
    let source: SettingsSource
    let position: TOMLPosition?
}

/// Puts the sources together, one after the other, and collects what is wrong.
struct SettingsMerge {
    var settings = Settings()
    private(set) var files: [String] = []
    private(set) var origins: [String: SettingsOrigin] = [:]
    private(set) var errors: [SettingsError] = []

    /// Tables and keys of the present source that were refused: what is inside them is not
    /// reported again.
    private var refused: Set<[String]> = []
    /// Profiles and tables with a refused key: what remains of them is not judged.
    private var spoiled: Set<[String]> = []

    /// The most errors reported of one file.
    private static let errorsPerFileMax = 100

    private static let rows: [String: SettingKey<Settings>] = Dictionary(
        uniqueKeysWithValues: Settings.keys.map { ($0.name, $0) }
    )
    /// The tables at the top of a file.
    static let sections: [String] = {
        var sections: [String] = []
        for key in Settings.keys {
            let section = String(key.name.prefix { $0 != "." })
            if sections.last != section { sections.append(section) }
        }
        return sections + ["profiles"]
    }()

    mutating func apply(_ bytes: [UInt8], from file: String) {
        files.append(file)
        let source = SettingsSource.file(file)
        let document: TOMLDocument
        do throws(TOMLError) {
            document = try TOMLDocument(bytes: bytes)
        } catch {
            report(error.text, in: source, at: error.position)
            return
        }
        refused = []
        let errorsMax = errors.count + Self.errorsPerFileMax
        for entry in document.entries {
            guard errors.count < errorsMax else {
                report("and more, which is not listed", in: source)
                return
            }
            apply(entry, from: source)
        }
    }

    mutating func apply(_ override: SettingsOverride) {
        refused = []
        let path: [String]
        do throws(TOMLError) {
            path = try TOMLDocument.keyPath(override.key)
        } catch {
            let text = "\(override.key.quotedOnOneLine) is not a key: \(error.text)"
            report(text, in: .commandLine)
            return
        }
        let value: TOMLValue
        switch Self.type(of: path) {
        case .integer: value = Int(override.text).map(TOMLValue.integer) ?? .string(override.text)
        case .flag:
            let isFlag = override.text == "true" || override.text == "false"
            value = isFlag ? .boolean(override.text == "true") : .string(override.text)
        case .users:
            // On a command line names stand beside each other: "alice,bob".
            let names = override.text.split(separator: ",", omittingEmptySubsequences: false)
            value = .array(override.text.isEmpty ? [] : names.map { .string(String($0)) })
        case .time, .choice, .group, nil: value = .string(override.text)
        }
        apply(TOMLDocument.Entry(path: path, value: value, position: nil), from: .commandLine)
    }

    private static func type(of path: [String]) -> SettingType? {
        if isInProfile(path) { return path.count == 3 ? profileRows[path[2]]?.type : nil }
        if isInGroups(path) { return path.count == 4 ? groupRows[path[3]]?.type : nil }
        return rows[path.joined(separator: ".")]?.type
    }

    private mutating func apply(_ entry: TOMLDocument.Entry, from source: SettingsSource) {
        for length in 1..<max(entry.path.count, 1)
        where refused.contains(Array(entry.path.prefix(length))) {
            return
        }
        do throws(SettingProblem) {
            try place(entry, from: source)
        } catch {
            refused.insert(entry.path)
            spoiled.insert(Self.table(of: entry.path))
            let text = "\(keyPathText(entry.path)): \(error.text)"
            report(text, in: source, at: entry.position)
        }
    }

    /// Whether something in the same table was refused, in any source.
    func isSpoiled(_ path: [String]) -> Bool {
        spoiled.contains(Self.table(of: path))
    }

    private static func table(of path: [String]) -> [String] {
        Array(path.prefix(path[0] == "profiles" ? 2 : 1))
    }

    /// Finds what an entry is about and stores its value.
    private mutating func place(
        _ entry: TOMLDocument.Entry,
        from source: SettingsSource
    ) throws(SettingProblem) {
        let path = entry.path
        guard Self.sections.contains(path[0]) else {
            throw unknown(path, isTable: entry.value == .table)
        }
        if path.count == 1 {
            try expectTable(entry.value)
        } else if Self.isInProfile(path) {
            try placeInProfile(entry)
        } else if Self.isInGroups(path) {
            try placeInGroup(entry)
        } else {
            guard let row = Self.rows[path.joined(separator: ".")] else { throw unknown(path) }
            try row.assign(&settings, entry.value)
        }
        if entry.value != .table {
            origins[keyPathText(path)] = SettingsOrigin(source: source, position: entry.position)
        }
    }

    mutating func report(
        _ text: String,
        in source: SettingsSource,
        at position: TOMLPosition? = nil
    ) {
        errors.append(
            SettingsError(
                file: source.description,
                line: position?.line,
                column: position?.column,
                text: text
            )
        )
    }
}
