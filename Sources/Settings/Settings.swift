/// Everything a person can set, with the defaults.
///
/// The defaults stand here and nowhere else; ``keys`` names each of these properties, so that a
/// property without a key is found by a test.
package struct Settings: Sendable, Equatable {
    package var budget = Budget()
    /// By name. For a list, ``profileList`` has them in order.
    package var profiles = Dictionary(uniqueKeysWithValues: Profile.builtIn.map { ($0.name, $0) })
    package var limits = Limits()
    package var queue = Queue()
    package var applications = Applications()
    package var store = Store()
    package var daemon = Daemon()
    package var access = Access()

    package struct Budget: Sendable, Equatable {
        /// A task older than this is named in the log once; `nil`: never.
        package var warnAfter: Duration? = .seconds(30)
    }

    package struct Limits: Sendable, Equatable {
        package var tasksPerOwnerMax = 1000
        package var clientsMax = 4096
        package var clientsPerOwnerMax = 1024
        package var frameBytesMax = 4_194_304
        package var queueDepthMax = 200_000
        package var queueDepthPerOwnerMax = 100_000
        package var bufferBytesPerOwnerMax = 33_554_432
        package var endedHeldMax = 10_000
        package var outputBytesMax = 1_048_576
        package var outputTotalBytesMax = 67_108_864
        package var outputRatePerOwnerMax = 8_388_608
        package var logRatePerOwnerMax = 2000
        package var auditRatePerOwnerMax = 6000
        package var applicationsPerOwnerMax = 4096
        package var processesPerTaskMax = 4096
    }

    package struct Queue: Sendable, Equatable {
        package var slots = 4
        /// 0: a share by default, which leaves one slot to others.
        package var slotsPerOwnerMax = 0
        /// By name. For a list, ``Settings/groupList`` has them in order.
        package var groups: [String: Group] = [:]
    }

    /// A group of the queue, which run tasks can name.
    package struct Group: Sendable, Equatable {
        package let name: String
        package var slots = 1

        /// A group with everything at its default.
        package init(name: String) {
            self.name = name
        }
    }

    package struct Applications: Sendable, Equatable {
        package var suspendAfter: Duration = .seconds(5)
        package var backgroundTime: Duration = .seconds(180)
        /// Shorter than ``backgroundTime``.
        package var grace: Duration = .seconds(5)
        package var foreground = Foreground.single
        package var enforce = true
        package var messageTime: Duration = .seconds(30)
        package var messagesPerHourMax = 3
    }

    package struct Store: Sendable, Equatable {
        package var historyMax = 1_000_000
        /// A million ordinary commands take less, so that for them ``historyMax`` is the limit.
        package var historyBytesMax = 1_073_741_824
        /// 0: none is kept on disk.
        package var outputBytesMax = 67_108_864
        /// `nil`: only the other two bound the history.
        package var historyAge: Duration? = .seconds(30 * 86400)
        package var durability = Durability.commit
    }

    package struct Daemon: Sendable, Equatable {
        package var containment = Containment.auto
        package var absenceMax = Duration.seconds(60)
        package var logLevel = LogLevel.info
    }

    package struct Access: Sendable, Equatable {
        /// A group by its name or number; empty: root alone.
        package var operators = ""
        /// A group by its name or number; empty: everybody.
        package var users = ""
        /// Users whose confined processes may have commands run.
        package var confinedUsers: [String] = []
        /// Users beside root who may have tasks without a limit.
        package var unlimitedUsers: [String] = []
    }

    package init() {}

    /// The profiles by name, in an order that does not depend on hashing.
    package var profileList: [Profile] {
        profiles.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The groups of the queue by name, in an order that does not depend on hashing.
    package var groupList: [Group] {
        queue.groups.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Whether a name may be given to a profile or a group: `[A-Za-z0-9._-]{1,64}`.
    package static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }

    /// The settings under `limits`, as `Describe` answers them.
    package var limitList: [(name: String, value: Int)] {
        Self.keys.compactMap { key in
            guard key.name.hasPrefix("limits."), case .integer(let value) = key.value(self) else {
                return nil
            }
            return (String(key.name.dropFirst("limits.".count)), value)
        }
    }
}

extension Settings {
    /// How many applications may be in the foreground at once.
    package enum Foreground: String, Sendable, CaseIterable { case single, multiple }

    /// What a submission waits for before it is answered.
    package enum Durability: String, Sendable, CaseIterable {
        /// The disk.
        case commit
        /// Nothing: the store is in memory and ends with the daemon.
        case memory
    }

    /// How a task's processes are kept together.
    package enum Containment: String, Sendable, CaseIterable {
        /// A cgroup where one can be had, a supervisor elsewhere.
        case auto
        case cgroup
        case supervisor
    }

    /// The levels of sd-daemon(3), the most urgent first.
    package enum LogLevel: String, Sendable, CaseIterable {
        case emerg, alert, crit, err, warning, notice, info, debug

        /// The level as syslog(3) counts it: 0 (emerg) to 7 (debug).
        package var priority: Int {
            switch self {
            case .emerg: 0
            case .alert: 1
            case .crit: 2
            case .err: 3
            case .warning: 4
            case .notice: 5
            case .info: 6
            case .debug: 7
            }
        }

        /// - Parameter priority: 0 to 7; anything else gives `nil`.
        package init?(priority: Int) {
            guard let level = Self.allCases.first(where: { $0.priority == priority }) else {
                return nil
            }
            self = level
        }
    }
}
