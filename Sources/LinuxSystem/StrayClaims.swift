/// Decides to which task a stray belongs. The first that applies:
///
/// 1. The task in whose audit session it is, which nobody but root can leave.
/// 2. The task of the command that it descends from, or in whose group the oldest of its parents lives.
/// 3. Once its parents are gone: the task to which an earlier scan gave it.
/// 4. Otherwise a task of the same user that ran when it started, for as long as there is one.
///
/// What a process says of itself is no evidence.
struct StrayClaims {
    /// What is known of a task.
    struct Claimant {
        /// The name of its group.
        let groupName: String
        /// Whose commands it runs.
        let user: UInt32
        /// When it began, in clock ticks since boot.
        let beganAt: UInt64
        /// The commands that run.
        let commandIDs: [Int32]
        /// Those of all its commands.
        let sessions: Set<AuditSession>
        /// Its processes are to be killed.
        let isEnding: Bool
    }

    private let claimants: [Claimant]
    private let tree: String
    private var bySession: [AuditSession: Int] = [:]
    private var byCommand: [Int32: Int] = [:]
    private var byGroup: [String: Int] = [:]

    /// - Parameter tree: the name of the tree of groups.
    init(_ claimants: [Claimant], tree: String) {
        self.claimants = claimants
        self.tree = tree
        for (index, claimant) in claimants.enumerated() {
            byGroup[claimant.groupName] = index
            for session in claimant.sessions { bySession[session] = index }
            for command in claimant.commandIDs { byCommand[command] = index }
        }
    }

    /// The task that a process is known to be of, by its place among the claimants.
    func known(_ stray: Stray) -> Int? {
        stray.session.flatMap { bySession[$0] }
            ?? byCommand[stray.top]
            ?? StrayScan.taskGroup(of: stray.topGroup, in: tree).flatMap { byGroup[$0] }
    }

    /// A task that may have started a process whose parents are gone: the user's oldest that is not ending, or
    /// otherwise the oldest that is.
    ///
    /// - Parameter user: whose the process is.
    func likely(_ stray: Stray, of user: UInt32) -> Int? {
        let candidates = claimants.indices.filter {
            claimants[$0].user == user && claimants[$0].beganAt <= stray.startTime
        }
        let lasting = candidates.filter { !claimants[$0].isEnding }
        return (lasting.isEmpty ? candidates : lasting).min {
            (claimants[$0].beganAt, claimants[$0].groupName)
                < (claimants[$1].beganAt, claimants[$1].groupName)
        }
    }
}
