/// What stands in tables whose names a file chooses: profiles, and the groups of the queue.
extension SettingsMerge {
    /// The most profiles, the built-in ones among them.
    private static let profilesMax = 1000
    private static let groupsMax = 64

    static let profileRows: [String: SettingKey<Settings.Profile>] = Dictionary(
        uniqueKeysWithValues: Settings.Profile.keys.map { ($0.name, $0) }
    )
    static let groupRows: [String: SettingKey<Settings.Group>] = Dictionary(
        uniqueKeysWithValues: Settings.Group.keys.map { ($0.name, $0) }
    )

    static func isInProfile(_ path: [String]) -> Bool {
        path.count > 1 && path[0] == "profiles"
    }

    /// Whether a path is that of the table of groups, or leads into it.
    static func isInGroups(_ path: [String]) -> Bool {
        path.count > 1 && path[0] == "queue" && path[1] == "groups"
    }

    mutating func placeInProfile(_ entry: TOMLDocument.Entry) throws(SettingProblem) {
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
        }
        settings.profiles[name] = profile
    }

    mutating func placeInGroup(_ entry: TOMLDocument.Entry) throws(SettingProblem) {
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

    func expectTable(_ value: TOMLValue) throws(SettingProblem) {
        guard value == .table else {
            throw SettingProblem(text: "expected a table, found \(value.found)")
        }
    }

    func unknown(_ path: [String], isTable: Bool = false) -> SettingProblem {
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
}
