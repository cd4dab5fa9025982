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
        package var frameBytesMax = 16_777_216
        package var queueDepthMax = 200_000
        package var queueDepthPerOwnerMax = 100_000
        package var bufferBytesPerOwnerMax = 33_554_432
        package var endedHeldMax = 10_000
        package var outputBytesMax = 1_048_576
        package var outputTotalBytesMax = 67_108_864
        package var outputRatePerOwnerMax = 8_388_608
        package var logRatePerOwnerMax = 2000
        package var auditRatePerOwnerMax = 6000
    }

    package struct Queue: Sendable, Equatable {
        package var slots = 4
    }

    package struct Applications: Sendable, Equatable {
        package var suspendAfter: Duration = .seconds(5)
        package var backgroundTime: Duration = .seconds(180)
        /// Shorter than ``backgroundTime``.
        package var grace: Duration = .seconds(5)
        package var foreground = Foreground.single
        package var enforce = true
    }

    package struct Store: Sendable, Equatable {
        package var historyMax = 1_000_000
        /// `nil`: only ``historyMax`` bounds the history.
        package var historyAge: Duration? = .seconds(30 * 86400)
        package var durability = Durability.commit
    }

    package struct Daemon: Sendable, Equatable {
        package var containment = Containment.auto
        package var logLevel = LogLevel.info
    }

    package struct Access: Sendable, Equatable {
        /// A group by its name or number; empty: root alone.
        package var operators = ""
    }

    package init() {}

    /// The profiles by name, in an order that does not depend on hashing.
    package var profileList: [Profile] {
        profiles.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
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
        package var priority: Int { Self.allCases.firstIndex(of: self) ?? 6 }

        /// - Parameter priority: 0 to 7; anything else gives `nil`.
        package init?(priority: Int) {
            guard Self.allCases.indices.contains(priority) else { return nil }
            self = Self.allCases[priority]
        }
    }
}
