extension Settings {
    /// A named budget.
    package struct Profile: Sendable, Equatable {
        package let name: String
        /// The hard limit; `nil` for ``unlimited`` alone.
        package var duration: Duration? = .seconds(180)
        /// The handler fires this long before the hard limit; shorter than ``duration``.
        package var grace: Duration = .seconds(5)
        /// How far extensions may reach, counted from the begin; `nil` for ``unlimited`` alone.
        package var lifetimeMax: Duration?
        /// Whether tasks can choose it.
        package var enabled = true

        /// A profile with everything at its default.
        package init(name: String) {
            self.name = name
            setDefaultLifetime()
        }

        private init(name: String, duration: Duration?, grace: Duration) {
            self.name = name
            self.duration = duration
            self.grace = grace
            setDefaultLifetime()
        }

        /// What `lifetimeMax` is where nobody sets it: 600 s, or the duration where that is longer; of ``long`` a day.
        mutating func setDefaultLifetime() {
            let usual = name == Self.longName ? Duration.seconds(86400) : .seconds(600)
            lifetimeMax = duration.map { max(usual, $0) }
        }
    }
}

extension Settings.Profile {
    /// The profile that nobody can change; for background modes and for root.
    package static let unlimited = Settings.Profile(
        name: "unlimited",
        duration: nil,
        grace: .seconds(5)
    )

    /// That of a task which asks for none.
    static let defaultName = "default"

    /// For what takes hours.
    static let longName = "long"

    static let builtIn = [
        Settings.Profile(name: defaultName),
        Settings.Profile(name: "extended", duration: .seconds(600), grace: .seconds(6)),
        Settings.Profile(name: longName, duration: .seconds(4 * 3600), grace: .seconds(30)),
        Settings.Profile(name: "short", duration: .seconds(30), grace: .seconds(5)),
        unlimited,
    ]
}
