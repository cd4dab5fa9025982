/// What a command line asks for that not everybody may have; it says why a call was denied.
package enum Privilege: Equatable, Sendable {
    /// For root and the group of operators.
    case operators(String)
    /// For root and the users of `access.unlimitedUsers`.
    case unlimited(String)

    static func all(_ isAsked: Bool) -> Privilege? { isAsked ? .operators("--all") : nil }

    static func profile(_ name: String?) -> Privilege? {
        name == "unlimited" ? .unlimited("--profile unlimited") : nil
    }

    /// Who may have it.
    var text: String {
        switch self {
        case .operators(let what): "\(what) is for root and the group of access.operators"
        case .unlimited(let what): "\(what) is for root and the users of access.unlimitedUsers"
        }
    }
}

extension Begin { var privilege: Privilege? { .profile(borrow.profile) } }
extension Run { var privilege: Privilege? { .profile(borrow.profile) } }
extension Hold { var privilege: Privilege? { .profile(borrow.profile) } }
extension Cancel { var privilege: Privilege? { .all(selection.reach.all) } }
extension Extend { var privilege: Privilege? { .all(selection.reach.all) } }
extension Logs { var privilege: Privilege? { .all(selection.reach.all) } }
extension Show { var privilege: Privilege? { .all(selection.reach.all) } }
extension Wait { var privilege: Privilege? { .all(selection.reach.all) } }
extension Explain { var privilege: Privilege? { .all(selection.reach.all) } }
extension Remaining { var privilege: Privilege? { .all(selection.reach.all) } }
extension SimulateLaunch { var privilege: Privilege? { .all(reach.all) } }
extension SimulateExpiration { var privilege: Privilege? { .all(reach.all) } }
extension History { var privilege: Privilege? { .all(filter.all) } }
extension List { var privilege: Privilege? { .all(filter.all) } }
extension Top { var privilege: Privilege? { .all(all) } }
extension Timeline { var privilege: Privilege? { .all(filter.all) } }
extension Watch { var privilege: Privilege? { .all(all) } }
extension Edit { var privilege: Privilege? { .all(reach.all) } }
extension Pause { var privilege: Privilege? { target.privilege } }
extension Resume { var privilege: Privilege? { target.privilege } }
extension PauseTarget {
    var privilege: Privilege? { owner == nil ? .all(reach.all) : .operators("--owner") }
}
extension Reload { var privilege: Privilege? { .operators("reload") } }
extension Group.Pause { var privilege: Privilege? { .operators("group pause") } }
extension Group.Resume { var privilege: Privilege? { .operators("group resume") } }
extension App.List { var privilege: Privilege? { .all(all) } }
extension App.Watch { var privilege: Privilege? { .all(all) } }
extension App.Register {
    var privilege: Privilege? {
        backgroundMode ? .unlimited("--background-mode") : .profile(profile)
    }
}
