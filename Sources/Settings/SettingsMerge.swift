/// Where a value was set.
struct SettingsOrigin: Sendable, Equatable {
    let source: SettingsSource
    let position: TOMLPosition?
}

/// Puts the sources together, one after the other, and collects what is wrong.
package struct SettingsMerge {
    private var settings = Settings()
    private var files: [String] = []
    private var origins: [String: SettingsOrigin] = [:]
    package private(set) var errors: [SettingsError] = []

    /// Tables and keys of the present source that were refused: what is inside them is not
    /// reported again.
    private var refused: Set<[String]> = []
    /// Profiles and tables with a refused key: what remains of them is not judged.
    private var spoiled: Set<[String]> = []

    package init() {}

    /// The most errors reported of one file.
    private static let errorsPerFileMax = 100

    private static let rows: [String: SettingKey<Settings>] = Dictionary(
        uniqueKeysWithValues: Settings.keys.map { ($0.name, $0) }
    )
    /// The tables at the top of a file.
    private static let sections: [String] = {
        var sections: [String] = []
        for key in Settings.keys {
            let section = String(key.name.prefix { $0 != "." })
            if sections.last != section { sections.append(section) }
        }
        return sections + ["profiles"]
    }()

    package mutating func apply(_ bytes: [UInt8], from file: String) {
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
    private func isSpoiled(_ path: [String]) -> Bool {
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

    // MARK: - What stands in tables whose names a file chooses: profiles, and the groups of the queue

    /// The most profiles, the built-in ones among them.
    private static let profilesMax = 1000
    private static let groupsMax = 64

    private static let profileRows: [String: SettingKey<Settings.Profile>] = Dictionary(
        uniqueKeysWithValues: Settings.Profile.keys.map { ($0.name, $0) }
    )
    private static let groupRows: [String: SettingKey<Settings.Group>] = Dictionary(
        uniqueKeysWithValues: Settings.Group.keys.map { ($0.name, $0) }
    )

    private static func isInProfile(_ path: [String]) -> Bool {
        path.count > 1 && path[0] == "profiles"
    }

    /// Whether a path is that of the table of groups, or leads into it.
    private static func isInGroups(_ path: [String]) -> Bool {
        path.count > 1 && path[0] == "queue" && path[1] == "groups"
    }

    private mutating func placeInProfile(_ entry: TOMLDocument.Entry) throws(SettingProblem) {
        let name = entry.path[1]
        guard Settings.isName(name) else {
            throw SettingProblem(text: "a profile's name is 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        guard name != Settings.Profile.unlimited.name else {
            throw SettingProblem(text: "this profile is built in and cannot be changed")
        }
        guard settings.profiles[name] != nil || settings.profiles.count < Self.profilesMax else {
            throw SettingProblem(text: "more than \(Self.profilesMax) profiles")
        }
        var profile = settings.profiles[name] ?? Settings.Profile(name: name)
        if entry.path.count == 2 {
            try expectTable(entry.value)
        } else {
            guard entry.path.count == 3, let row = Self.profileRows[entry.path[2]] else {
                throw unknown(entry.path)
            }
            try row.assign(&profile, entry.value)
            guard profile.enabled || name != Settings.Profile.defaultName else {
                throw SettingProblem(
                    text: "the profile default is for tasks that ask for none, and cannot be closed"
                )
            }
        }
        settings.profiles[name] = profile
    }

    private mutating func placeInGroup(_ entry: TOMLDocument.Entry) throws(SettingProblem) {
        guard entry.path.count > 2 else { return try expectTable(entry.value) }
        let name = entry.path[2]
        guard Settings.isName(name) else {
            throw SettingProblem(text: "a group's name is 1 to 64 of A-Z a-z 0-9 . _ -")
        }
        let groups = settings.queue.groups
        guard groups[name] != nil || groups.count < Self.groupsMax else {
            throw SettingProblem(text: "more than \(Self.groupsMax) groups")
        }
        var group = groups[name] ?? Settings.Group(name: name)
        if entry.path.count == 3 {
            try expectTable(entry.value)
        } else {
            guard entry.path.count == 4, let row = Self.groupRows[entry.path[3]] else {
                throw unknown(entry.path)
            }
            try row.assign(&group, entry.value)
        }
        settings.queue.groups[name] = group
    }

    private func expectTable(_ value: TOMLValue) throws(SettingProblem) {
        guard value == .table else {
            throw SettingProblem(text: "expected a table, found \(value.found)")
        }
    }

    private func unknown(_ path: [String], isTable: Bool = false) -> SettingProblem {
        var names = isTable ? Self.sections : Settings.keys.map(\.name)
        if path.count == 3, Self.isInProfile(path) {
            names = Settings.Profile.keys.map { keyPathText(["profiles", path[1], $0.name]) }
        } else if path.count == 4, Self.isInGroups(path) {
            names = Settings.Group.keys.map {
                keyPathText(["queue", "groups", path[2], $0.name])
            }
        } else {
            names.append("queue.groups")
        }
        let hint = Spelling.hint(for: path.joined(separator: "."), among: names)
        return SettingProblem(text: "unknown \(isTable ? "table" : "key")\(hint)")
    }

    // MARK: - How settings fit together, which shows when everything is merged

    /// What was merged, judged as a whole.
    ///
    /// - Throws: all that is wrong with it.
    mutating func result() throws(SettingsErrors) -> LoadedSettings {
        finish()
        if let errors = SettingsErrors(errors) { throw errors }
        return LoadedSettings(settings: settings, files: files, origins: origins)
    }

    package mutating func finish() {
        for profile in settings.profileList where profile != .unlimited { finish(profile) }
        judge(
            (["applications", "grace"], settings.applications.grace),
            isShorterThan: (
                ["applications", "backgroundTime"], settings.applications.backgroundTime
            )
        )
    }

    private mutating func finish(_ profile: Settings.Profile) {
        let path = ["profiles", profile.name]
        guard let duration = profile.duration else { return }
        judge((path + ["grace"], profile.grace), isShorterThan: (path + ["duration"], duration))
        let lifetimePath = path + ["lifetimeMax"]
        guard origins[keyPathText(lifetimePath)] != nil, let lifetimeMax = profile.lifetimeMax
        else {
            settings.profiles[profile.name]?.setDefaultLifetime()
            return
        }
        if lifetimeMax < duration {
            report(
                "is shorter than",
                (lifetimePath, lifetimeMax),
                (path + ["duration"], duration)
            )
        }
    }

    private mutating func judge(
        _ grace: (path: [String], value: Duration),
        isShorterThan limit: (path: [String], value: Duration)
    ) {
        if grace.value >= limit.value { report("is not shorter than", grace, limit) }
    }

    /// Blames the first of two settings where a source set it, and else the second.
    private mutating func report(
        _ relation: String,
        _ first: (path: [String], value: Duration),
        _ second: (path: [String], value: Duration)
    ) {
        guard !isSpoiled(first.path) else { return }
        let firstOrigin = origins[keyPathText(first.path)]
        let secondOrigin = origins[keyPathText(second.path)]
        guard let origin = firstOrigin ?? secondOrigin else { return }
        let other = (firstOrigin == nil ? nil : secondOrigin)?.source ?? .builtIn
        let otherPlace = other == origin.source ? "" : " (\(other))"
        let blamed: [String]
        let text: String
        let (value, limit) = (TimeSpan.finite(first.value), TimeSpan.finite(second.value))
        if firstOrigin != nil {
            blamed = first.path
            text = "\(value) \(relation) the \(second.path.last ?? ""), \(limit)\(otherPlace)"
        } else {
            blamed = second.path
            text = "the \(first.path.last ?? ""), \(value)\(otherPlace), \(relation) \(limit)"
        }
        report("\(keyPathText(blamed)): \(text)", in: origin.source, at: origin.position)
    }
}
