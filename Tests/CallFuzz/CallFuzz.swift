import JSON
import TestKit
import Varlink

/// Calls a daemon that runs, one call after the other, and counts what it answers.
///
/// Ends at nothing that the daemon answers: whether it still serves is for its keeper to see.
package final class CallFuzz {
    /// What came of the calls.
    package struct Counts: Sendable {
        package var calls = 0
        /// By the error's name without its interface; `ok` for replies.
        package var answers: [String: Int] = [:]
        /// Connections that ended though the last call on them was no breach of the protocol.
        package var surprises = 0
    }

    /// The daemon takes no connections any more.
    package struct Unreachable: Error, CustomStringConvertible {
        let seed: UInt64
        let recent: [String]

        package var description: String {
            "seed \(seed): no connection after these calls:\n" + recent.joined(separator: "\n")
        }
    }

    package private(set) var counts = Counts()
    /// The newest calls with what came of them, the oldest first: some that were answered, and those after them
    /// that were not. Each is cut to a length that can be shown.
    package private(set) var recent: [String] = []
    /// The newest calls with which a connection ended though they were no breach of the protocol.
    package private(set) var surprises: [String] = []
    private let seed: UInt64
    private var generator: CallGenerator<SeededGenerator>
    private let connectAnew: () -> Int32?
    private var current: FuzzedConnection?
    /// Connections whose call waits for something.
    private var waiting: [FuzzedConnection] = []

    private static let answeredKept = 12
    private static let batchMax = 32
    private static let recentMax = 200
    private static let shownMax = 400
    private static let waitingMax = 24
    /// How long an answer is waited for before the next call goes over another connection.
    private static let patience: Int32 = 8

    /// - Parameters:
    ///   - processIDs: processes of the fuzzer's user that may hold tasks.
    ///   - connect: makes a connected socket; `nil` where there is no daemon, however long it is waited for.
    package init(seed: UInt64, processIDs: [Int] = [], connect: @escaping () -> Int32?) {
        self.seed = seed
        generator = CallGenerator(SeededGenerator(seed: seed), processIDs: processIDs)
        connectAnew = connect
    }

    /// Calls each method with each of its fields at its extremes.
    ///
    /// - Parameter mayGoOn: asked again and again.
    package func callSystematically(while mayGoOn: () -> Bool = { true }) throws(Unreachable) {
        var isEnough = false
        var batch: [Generated] = []
        try SystematicCalls.all(extra: generator.known.all) { call throws(Unreachable) in
            batch.append(call)
            guard batch.count == CallFuzz.batchMax else { return }
            isEnough = isEnough || !mayGoOn()
            if !isEnough { try self.call(batch) }
            batch = []
        }
        if !isEnough { try call(batch) }
    }

    /// Makes random calls.
    package func callAtRandom(_ count: Int) throws(Unreachable) {
        for number in 0..<count {
            try call([generator.next()])
            // What connections hold ends with them.
            if number % 3000 == 2999 { hangUp() }
        }
    }

    /// Closes all connections.
    package func hangUp() {
        current = nil
        waiting = []
    }

    /// Makes calls, each before the one before it is answered, and reads the answers.
    private func call(_ batch: [Generated]) throws(Unreachable) {
        let connection = try connection()
        counts.calls += batch.count
        // What is not answered itself is followed by what is.
        let calls = batch.map { $0.isOneway ? "\($0.text)\0\(CallFuzz.ping)" : $0.text }
        connection.send(frame: calls.joined(separator: "\0"))
        var isWaiting = false
        for call in batch {
            let answer = isWaiting || connection.isClosed ? nil : readAnswer(on: connection)
            note(call.text, answer ?? (connection.isClosed ? "CLOSED" : "waits"))
            isWaiting = answer == nil
        }
        if connection.isClosed {
            noteEnd(isSurprise: !batch.contains { $0.breaksProtocol })
        } else if isWaiting {
            waiting.append(connection)
            if waiting.count > CallFuzz.waitingMax { waiting.removeFirst() }
            current = nil
        }
    }

    private static let ping = CallText.call("io.systemd.service.Ping", "{}")

    /// - Returns: the name of the answer; `nil` where it is not whole yet.
    private func readAnswer(on connection: FuzzedConnection) -> String? {
        while let frame = connection.nextFrame(milliseconds: CallFuzz.patience) {
            guard let answer = try? JSONDocument(parsing: frame).value() else {
                return count("not JSON")
            }
            // An error says again what was asked for.
            if answer["error"] == nil { generator.known.add(of: answer) }
            let name = count(CallFuzz.name(of: answer))
            guard case .bool(true) = answer["continues"] else { return name }
        }
        return nil
    }

    private func noteEnd(isSurprise: Bool) {
        current = nil
        guard isSurprise else { return }
        counts.surprises += 1
        surprises.append(recent.first { $0.hasSuffix("CLOSED") } ?? "")
        if surprises.count > CallFuzz.answeredKept { surprises.removeFirst() }
    }

    private static func name(of answer: JSONValue) -> String {
        guard case .string(let error) = answer["error"] else { return "ok" }
        return error.split(separator: ".").last.map(String.init) ?? error
    }

    private func count(_ answer: String) -> String {
        counts.answers[answer, default: 0] += 1
        return answer
    }

    private func connection() throws(Unreachable) -> FuzzedConnection {
        if let current { return current }
        guard let descriptor = connectAnew() else {
            throw Unreachable(seed: seed, recent: recent)
        }
        let connection = FuzzedConnection(adopting: descriptor)
        current = connection
        return connection
    }

    private func note(_ text: String, _ answer: String) {
        if answer != "CLOSED", answer != "waits", recent.count > CallFuzz.answeredKept {
            recent.removeFirst(recent.count - CallFuzz.answeredKept)
        }
        guard recent.count < CallFuzz.recentMax else { return }
        let shown =
            text.utf8.count > CallFuzz.shownMax
            ? "\(text.prefix(CallFuzz.shownMax))... (\(text.utf8.count) bytes)" : text
        recent.append("\(shown) -> \(answer)")
    }
}
