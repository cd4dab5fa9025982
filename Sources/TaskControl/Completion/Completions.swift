internal import ArgumentParser
internal import LinuxSystem
internal import Varlink

// What the shells complete that is not written in the scripts for them. Where no daemon answers, nothing is completed
// and nothing is said.
extension CompletionKind {
    static let tasks = asking { query throws(ClientError) in try query.tasksByNumberOrName() }
    static let taskNumbers = asking { query throws(ClientError) in try query.taskNumbers() }
    static let taskNames = asking { query throws(ClientError) in try query.taskNames() }
    static let profiles = asking { query throws(ClientError) in try query.profiles() }
    static let groups = asking { query throws(ClientError) in try query.groups() }
    static let applications = asking { query throws(ClientError) in try query.applications() }
    static let interfaces = asking { query throws(ClientError) in try query.interfaces() }

    static let signals = list(signalNames)
    /// Where there can be none.
    static let signalsOrNone = list(signalNames + ["none"])

    /// All but the real-time signals (signal(7)).
    private static let signalNames = (1..<32).map { SignalName.name(of: $0) }

    private static func asking(
        _ ask: @escaping @Sendable (CompletionQuery) throws(ClientError) -> [Candidate]
    ) -> CompletionKind {
        .custom { words, _, prefix in
            guard let line = CompletedLine(words),
                let query = CompletionQuery(line, prefix: prefix),
                let candidates = try? ask(query)
            else { return [] }
            return candidates.map { $0.line(for: CompletionShell.requesting?.rawValue) }
        }
    }
}
