/// What was granted last that no profile has as it is: who asks for a budget mostly asks for it again.
struct RecentTerms: Sendable {
    private static let countMax = 16

    private var all: [Terms] = []
    /// Which of them is forgotten next.
    private var oldest = 0

    /// Those of a profile with another budget, or for an application.
    mutating func take(of profile: Terms, budget: Budget?, application: String?) -> Terms {
        for terms in all where terms.are(of: profile, budget: budget, application: application) {
            return terms
        }
        let terms = Terms(of: profile, budget: budget, application: application)
        if all.count < RecentTerms.countMax {
            all.append(terms)
        } else {
            all[oldest] = terms
            oldest = (oldest + 1) % RecentTerms.countMax
        }
        return terms
    }
}
