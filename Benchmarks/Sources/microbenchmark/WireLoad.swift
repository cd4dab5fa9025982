internal import TaskAPI
internal import Varlink

/// Calls that are read and answered with nobody behind them: bytes in, messages, bytes out.
struct WireLoad {
    private var connection = ServerConnection()
    /// Bytes that were answered.
    private(set) var answeredBytes = 0

    private static let rounds = 9
    private static let timesPerRound = 4000
    private static let eventsPerRound = 20_000
    /// Of the environment in a large document.
    private static let variables = [40, 4000]

    /// How fast calls are read and answered, large documents are read, and replies and events are written.
    static func measure() throws {
        try measureCalls()
        try measureLargeDocuments()
        try measureWriting()
    }

    private static func measureCalls() throws {
        var load = WireLoad()
        let one = Corpus.typical
        let together = Array(one.joined())
        let seconds = try Stopwatch.inTurn(2, rounds: rounds) { index in
            try Stopwatch.seconds {
                for _ in 0..<timesPerRound {
                    if index == 1 {
                        try load.answer(together)
                    } else {
                        for frame in one { try load.answer(frame) }
                    }
                }
            }
        }
        let count = one.count * timesPerRound
        let megabytes = Double(together.count * timesPerRound) / 1e6
        Figure.rate("wire-calls", count, in: seconds[0], "calls")
        Figure(name: "wire-calls-bytes", value: megabytes / seconds[0], unit: "MB/s").show()
        Figure.rate("wire-calls-pipelined", count, in: seconds[1], "calls")
    }

    private static func measureLargeDocuments() throws {
        var load = WireLoad()
        let documents = variables.map { Corpus.large(variables: $0, repetitions: 3) }
        let times = documents.map { max(1, 4_000_000 / $0.count) }
        let seconds = try Stopwatch.inTurn(documents.count, rounds: rounds) { index in
            let seconds = try Stopwatch.seconds {
                for _ in 0..<times[index] { try load.answer(documents[index]) }
            }
            return seconds / Double(times[index] * documents[index].count)
        }
        for (name, seconds) in zip(["small", "large"], seconds) {
            Figure(name: "wire-document-\(name)", value: 1e-6 / seconds, unit: "MB/s").show()
        }
        Figure.growth("wire-document", few: seconds[0], many: seconds[1])
    }

    private static func measureWriting() throws {
        var load = WireLoad()
        try load.open()
        let begun = Sample.begun
        let event = Sample.event
        let seconds = try Stopwatch.inTurn(2, rounds: rounds) { index in
            try Stopwatch.seconds {
                for _ in 0..<eventsPerRound {
                    try index == 0 ? load.write(begun) : load.write(event)
                }
            }
        }
        let start = load.answeredBytes
        try load.write(event)
        let megabytes = Double((load.answeredBytes - start) * eventsPerRound) / 1e6
        Figure.rate("wire-replies", eventsPerRound, in: seconds[0], "replies")
        Figure.rate("wire-events", eventsPerRound, in: seconds[1], "events")
        Figure(name: "wire-events-bytes", value: megabytes / seconds[1], unit: "MB/s").show()
    }

    /// Reads and answers all calls of these bytes.
    mutating func answer(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { bytes in try connection.receive(bytes) }
        while let call = try connection.nextCall() { try answer(call) }
        send()
    }

    private mutating func answer(_ call: Call) throws {
        let result: ServerConnection.ReplyResult
        switch call.method {
        case Tasks.Begin.name:
            _ = try call.decode(Tasks.Begin.Input.self)
            result = connection.reply(Sample.begun)
        case Tasks.End.name:
            _ = try call.decode(Tasks.End.Input.self)
            result = connection.reply(Sample.ended)
        case Tasks.Submit.name:
            _ = try call.decode(Tasks.Submit.Input.self)
            result = connection.reply(Sample.submitted)
        case Tasks.Cancel.name:
            _ = try call.decode(Tasks.Cancel.Input.self)
            result = connection.reply(Empty())
        default: throw Surprise.unknownMethod(call.method)
        }
        guard result == .queued else { throw Surprise.notAnswered }
    }

    /// Opens a call that takes any number of replies.
    private mutating func open() throws {
        try Corpus.watch.withUnsafeBytes { bytes in try connection.receive(bytes) }
        guard try connection.nextCall() != nil else { throw Surprise.noCall }
    }

    private mutating func write<M: Message>(_ message: M) throws {
        guard connection.reply(message, continues: true) == .queued else {
            throw Surprise.notAnswered
        }
        send()
    }

    /// The socket takes all of it.
    private mutating func send() {
        let count = connection.withPendingOutput { bytes in bytes.count }
        connection.sent(count)
        answeredBytes += count
    }
}
