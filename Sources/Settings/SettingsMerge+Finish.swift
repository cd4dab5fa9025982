/// What can only be judged when everything is merged: how two settings fit together.
extension SettingsMerge {
    mutating func finish() {
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
