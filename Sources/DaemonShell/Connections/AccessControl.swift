internal import BudgetCore
internal import Glibc
internal import LinuxSystem
internal import TaskAPI
internal import Varlink

/// Who may use the daemon, and for whose confined processes commands are started.
///
/// A command of the daemon's is not confined as whoever asks for it is: it has the daemon's namespaces and none
/// of the filters. So who is confined more than the daemon has none started, unless the settings name their user.
struct AccessControl {
    /// What holds for the daemon itself; what is wrong where that cannot be found out.
    private let own: Result<ProcessConfinement, SystemError>
    private let settings: AccessSettings
    /// The one user whom the daemon serves; `nil`: everybody whom the settings do not leave out.
    private let onlyUser: UInt32?

    /// - Parameter executor: the process that starts commands; `nil`: a child of the daemon does.
    init(_ configuration: Configuration, executor: Int32?) {
        onlyUser = configuration.servesEverybody ? nil : configuration.user
        settings = configuration.access
        own = Result { () throws(SystemError) in
            var own = try ProcessConfinement.own()
            // One that has ended meanwhile is not known: a command that has its filters counts as confined then.
            if let executor { try? own.commandsAreStarted(by: executor) }
            return own
        }
    }

    /// Whether calls of a peer are answered.
    func serves(_ peer: PeerCredentials, isOperator: Bool) -> Bool {
        if let onlyUser { return peer.user == onlyUser }
        guard let group = settings.usersGroup, !isOperator else { return true }
        return peer.user == 0 || peer.isMember(of: group)
    }

    /// Who a command is registered for, their name aside.
    ///
    /// - Throws: `Confined` where it would get out of what confines the peer.
    func submitter(_ peer: PeerStanding, _ credentials: PeerCredentials) throws(CallFailure)
        -> Submitter
    {
        var submitter = Submitter()
        if onlyUser == nil {
            submitter.groups = SubmitterGroups(
                primary: credentials.group, supplementary: credentials.groups)
        }
        let mayLeave = mayLeave(credentials)
        switch (peer.confinement, own) {
        case (.success(let confinement), .success(let own)):
            let limits = confinement.limits(beyond: own)
            guard limits.isEmpty || mayLeave else {
                let list = limits.joined(separator: " and ")
                throw confined("the caller has \(list), and its command would not")
            }
            submitter.hasNoNewPrivileges = confinement.hasNoNewPrivileges
        case (.failure(let error), _), (_, .failure(let error)):
            guard mayLeave else { throw confined("whether the caller is confined: \(error)") }
            submitter.hasNoNewPrivileges = true
        }
        return submitter
    }

    /// What a peer is measured against; `nil` where all that confines it is asked.
    func measure(for credentials: PeerCredentials) -> ProcessConfinement? {
        mayLeave(credentials) ? nil : try? own.get()
    }

    private func mayLeave(_ credentials: PeerCredentials) -> Bool {
        settings.confinedUsers.contains(credentials.user)
    }

    private func confined(_ reason: String) -> CallFailure {
        .confined(reason + "; access.confinedUsers in the settings can name its user")
    }
}

/// What the settings say of access, with the numbers of users and groups for their names.
package struct AccessSettings {
    /// `nil`: everybody may use the daemon.
    package var usersGroup: UInt32?
    package var confinedUsers: Set<UInt32> = []
    /// Who may have tasks without a limit, besides root.
    package var unlimitedUsers: Set<UInt32> = []

    package init(
        usersGroup: UInt32? = nil, confinedUsers: Set<UInt32> = [],
        unlimitedUsers: Set<UInt32> = []
    ) {
        self.usersGroup = usersGroup
        self.confinedUsers = confinedUsers
        self.unlimitedUsers = unlimitedUsers
    }
}

extension PeerCredentials {
    func isMember(of group: UInt32) -> Bool { self.group == group || groups.contains(group) }
}
