import Settings
import Testing

@Suite("The table of settings")
struct SettingsTableTests {
    @Test("the defaults are those of the design")
    func defaults() {
        let expected = [
            "budget.warnAfter": "30s",
            "limits.tasksPerOwnerMax": "1000", "limits.clientsMax": "4096",
            "limits.clientsPerOwnerMax": "1024", "limits.frameBytesMax": "4194304",
            "limits.queueDepthMax": "200000", "limits.queueDepthPerOwnerMax": "100000",
            "limits.bufferBytesPerOwnerMax": "33554432", "limits.endedHeldMax": "10000",
            "limits.outputBytesMax": "1048576", "limits.outputTotalBytesMax": "67108864",
            "limits.outputRatePerOwnerMax": "8388608", "limits.logRatePerOwnerMax": "2000",
            "limits.auditRatePerOwnerMax": "6000", "limits.applicationsPerOwnerMax": "4096",
            "limits.processesPerTaskMax": "4096",
            "queue.slots": "4",
            "queue.slotsPerOwnerMax": "0",
            "applications.suspendAfter": "5s", "applications.backgroundTime": "3min",
            "applications.grace": "5s", "applications.foreground": "single",
            "applications.enforce": "true", "applications.messageTime": "30s",
            "applications.messagesPerHourMax": "3",
            "store.historyMax": "1000000", "store.historyBytesMax": "1073741824",
            "store.outputBytesMax": "67108864",
            "store.historyAge": "30d", "store.durability": "commit",
            "daemon.containment": "auto", "daemon.absenceMax": "1min",
            "daemon.logLevel": "info", "access.operators": "",
            "access.users": "", "access.confinedUsers": "[]", "access.unlimitedUsers": "[]",
            "profiles.default.duration": "3min", "profiles.default.grace": "5s",
            "profiles.default.lifetimeMax": "10min",
            "profiles.extended.duration": "10min", "profiles.extended.grace": "6s",
            "profiles.extended.lifetimeMax": "10min",
            "profiles.short.duration": "30s", "profiles.short.grace": "5s",
            "profiles.short.lifetimeMax": "10min",
            "profiles.long.duration": "4h", "profiles.long.grace": "30s",
            "profiles.long.lifetimeMax": "1d",
            "profiles.default.enabled": "true", "profiles.extended.enabled": "true",
            "profiles.short.enabled": "true", "profiles.long.enabled": "true",
            "profiles.unlimited.enabled": "true",
            "profiles.unlimited.duration": "infinity", "profiles.unlimited.grace": "5s",
            "profiles.unlimited.lifetimeMax": "infinity",
        ]
        let described = LoadedSettings().described()
        #expect(described.count == expected.count)
        for setting in described {
            #expect(setting.value == expected[setting.key], "\(setting.key)")
            #expect(setting.source == .builtIn)
        }
    }

    @Test("every property of the settings has exactly one key of its name")
    func everyPropertyHasAKey() {
        var properties: [String] = []
        for section in Mirror(reflecting: Settings()).children where section.label != "profiles" {
            for property in Mirror(reflecting: section.value).children {
                properties.append("\(section.label ?? "").\(property.label ?? "")")
            }
        }
        properties.removeAll { $0 == "queue.groups" }
        #expect(properties.sorted() == Settings.keys.map(\.name).sorted())
        let profile = Mirror(reflecting: Settings.Profile.unlimited).children.map { $0.label ?? "" }
        #expect(
            profile.filter { $0 != "name" }.sorted() == Settings.Profile.keys.map(\.name).sorted()
        )
        let group = Mirror(reflecting: Settings.Group(name: "x")).children.map { $0.label ?? "" }
        #expect(group.filter { $0 != "name" } == Settings.Group.keys.map(\.name))
    }

    @Test("every default lies in the range of its key, and every key stores what it reads")
    func everyKeyStores() throws {
        for key in Settings.keys {
            var settings = Settings()
            for given in [key.lowest, key.value(settings).asGiven, key.highest] {
                try key.assign(&settings, given)
                #expect(key.value(settings).asGiven == given, "\(key.name)")
            }
        }
    }

    @Test("every key refuses what lies beyond its range on either side")
    func ranges() {
        for key in Settings.keys {
            for given in key.beyond {
                var settings = Settings()
                #expect(throws: SettingProblem.self, "\(key.name) \(given)") {
                    try key.assign(&settings, given)
                }
                #expect(settings == Settings())
            }
        }
    }

    @Test("the limits are listed with their plain names")
    func limits() {
        let list = Settings().limitList
        #expect(list.count == 15)
        #expect(list.first?.name == "tasksPerOwnerMax")
        #expect(list.first?.value == 1000)
    }

    @Test("log levels have the numbers of syslog")
    func logLevels() {
        #expect(Settings.LogLevel.emerg.priority == 0)
        #expect(Settings.LogLevel.debug.priority == 7)
        #expect(Settings.LogLevel(priority: 6) == .info)
        #expect(Settings.LogLevel(priority: 8) == nil)
        #expect(Settings.LogLevel(priority: -1) == nil)
    }
}

extension SettingValue {
    /// As a file would say it.
    fileprivate var asGiven: TOMLValue {
        switch self {
        case .integer(let number): .integer(number)
        case .flag(let flag): .boolean(flag)
        case .time, .word: .string(description)
        case .words(let words): .array(words.map(TOMLValue.string))
        }
    }
}

extension SettingKey {
    fileprivate var lowest: TOMLValue { edge(\.lowerBound, \.lowerBound, word: \.first) }
    fileprivate var highest: TOMLValue { edge(\.upperBound, \.upperBound, word: \.last) }

    private func edge(
        _ integer: KeyPath<ClosedRange<Int>, Int>,
        _ time: KeyPath<ClosedRange<Duration>, Duration>,
        word: KeyPath<[String], String?>
    ) -> TOMLValue {
        switch type {
        case .integer(let range): .integer(range[keyPath: integer])
        case .time(let range, _): .string(TimeSpan.finite(range[keyPath: time]).description)
        case .flag: .boolean(false)
        case .choice(let words): .string(words[keyPath: word] ?? "")
        case .group: .string("bgtask")
        case .users: .array([.string("www-data"), .string("1001")])
        }
    }

    fileprivate var beyond: [TOMLValue] {
        switch type {
        case .integer(let range):
            return [.integer(range.lowerBound - 1), .integer(range.upperBound + 1), .string("1")]
        case .time(let range, let infinity):
            let above = range.upperBound + .microseconds(1)
            var texts = [TimeSpan.finite(above).description]
            if range.lowerBound > .zero {
                texts.append(TimeSpan.finite(range.lowerBound - .microseconds(1)).description)
            }
            if !infinity { texts.append("infinity") }
            return texts.map(TOMLValue.string) + [.integer(5)]
        case .flag: return [.string("true"), .integer(1)]
        case .choice: return [.string(""), .boolean(true), .string("AUTO")]
        case .group: return [.integer(5), .string("two words"), .string("a:b"), .string("a\n")]
        case .users:
            return [
                .string("root"), .array([.string("")]), .array([.string("two words")]),
                .array([.integer(-1)]), .array([.integer(1 << 32)]), .array([.array([])]),
            ]
        }
    }
}
