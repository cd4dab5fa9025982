/// What was granted to a task and stays so until it ends; tasks that were granted the same share it, so that
/// none of them carries it alone.
final class Terms: Sendable {
    let profile: String
    let application: String?
    let budget: Budget?
    let graceNanoseconds: Int64
    /// How long a task may last over all its extensions; `nil`: no limit.
    let lifetimeMax: Duration?
    /// The same; the highest number where there is no limit.
    let lifetimeNanoseconds: Int64

    /// Those of no task.
    static let none = Terms(profile: "", budget: nil, grace: .zero, lifetimeMax: nil)

    init(
        profile: String, application: String? = nil, budget: Budget?, grace: Duration,
        lifetimeMax: Duration?
    ) {
        self.profile = profile
        self.application = application
        self.budget = budget
        graceNanoseconds = grace.wholeNanoseconds
        self.lifetimeMax = lifetimeMax
        lifetimeNanoseconds = lifetimeMax?.wholeNanoseconds ?? .max
    }

    /// Those of a profile with another budget, or for an application.
    init(of profile: Terms, budget: Budget?, application: String?) {
        self.profile = profile.profile
        self.application = application
        self.budget = budget
        graceNanoseconds = budget?.graceNanoseconds ?? profile.graceNanoseconds
        lifetimeMax = profile.lifetimeMax
        lifetimeNanoseconds = profile.lifetimeNanoseconds
    }

    /// Whether they are those of a profile with this budget and for this application.
    func are(of profile: Terms, budget: Budget?, application: String?) -> Bool {
        self.budget == budget && lifetimeNanoseconds == profile.lifetimeNanoseconds
            && graceNanoseconds == budget?.graceNanoseconds ?? profile.graceNanoseconds
            && Terms.isSame(self.profile, profile.profile)
            && Terms.isSame(self.application, application)
    }

    /// By the bytes, as on disk: strings are equal also where Unicode takes one for the other.
    private static func isSame(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.utf8.elementsEqual(other.utf8)
    }
}

extension Terms: Equatable {
    static func == (one: Terms, other: Terms) -> Bool {
        one === other
            || one.are(of: other, budget: other.budget, application: other.application)
    }
}
