internal import BudgetCore
internal import LinuxSystem
package import Logging
internal import Systemd

/// Logs why connections were closed or not let in, ten times a second at most for each account, so that one who is
/// refused much does not keep the others' refusals from the log.
package final class RefusalLog {
    private let core: Core
    private let accounts: AccountSource
    private let log: Logger
    private var allowance = EntryAllowance(perSecondMax: 10)
    /// Those that were not named.
    private(set) var leftOutCount = 0

    package init(_ core: Core, _ accounts: AccountSource, _ log: Logger) {
        self.core = core
        self.accounts = accounts
        self.log = log
    }

    /// - Parameter peer: `nil` where it is about nobody in particular.
    func say(_ message: DaemonMessage, _ peer: PeerCredentials?, _ reason: String) {
        let account = peer.map { accounts.accounts.account(of: OwnerID(rawValue: $0.user)) }
        if let account, !allowance.take(account, at: core.now) {
            leftOutCount += 1
            return
        }
        var fields: [JournalField: String] = [.reason: reason]
        if let peer {
            fields[.owner] = "\(peer.user)"
            fields[.peerProcessID] = "\(peer.processID)"
        }
        log.say(message, fields)
    }

    /// When it is to be said how many were left out.
    var nextReport: Instant? { allowance.nextReport }

    /// Says how many closed connections of a user were not named.
    func report() {
        for (account, count) in allowance.takeReport(at: core.now) {
            log.say(
                .connectionsNotNamed,
                [.owner: "\(account)", .reason: "\(count) connections, over the rate"])
        }
    }
}
