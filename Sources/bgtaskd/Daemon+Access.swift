internal import BudgetCore
internal import LinuxSystem
internal import Settings
internal import TaskAPI
internal import Varlink

extension Configuration {
    /// A root daemon of the system scope runs each task as its submitter; any other serves its own
    /// user alone.
    var servesEverybody: Bool { scope == .system && user == 0 }

    /// Whether a peer sees and orders the tasks of all owners where it asks for that.
    func isOperator(_ peer: PeerCredentials) -> Bool {
        if peer.user == user { return true }
        guard let operatorsGroup else { return false }
        return peer.isMember(of: operatorsGroup)
    }
}

// Who may do what (DESIGN.md section 3, rule 5).
extension Daemon {
    /// Who asks, with the reach that the call asks for.
    ///
    /// - Throws: `PermissionDenied` where `all` is not the caller's to say, whatever else the call names.
    func caller(_ client: Client, all: Bool?) throws(CallFailure) -> Caller {
        guard all == true else { return client.caller }
        try requireOperator(client)
        return Caller(owner: client.caller.owner, seesAll: true)
    }

    /// Refuses what is about the daemon as a whole to those who only have tasks of their own.
    func requireOperator(_ client: Client) throws(CallFailure) {
        guard client.isOperator else { throw .service(.permissionDenied) }
    }

    /// Logs an order that an operator gave for a task of somebody else.
    func logOrder(_ order: String, _ id: TaskID, of client: Client) {
        guard let record = registry.record(id), record.task.owner != client.caller.owner
        else { return }
        journal.ordered(order, record, by: client.caller.owner)
    }
}
