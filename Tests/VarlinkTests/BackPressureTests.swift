import TestKit
import Testing
import Varlink

@Suite("Limits and back-pressure")
struct BackPressureTests {
    private func call(_ number: Int) -> [UInt8] {
        frame(#"{"method":"a.b.Echo","parameters":{"number":\#(number)}}"#)
    }

    @Test("4,096 calls may wait, and no more are wanted until some are taken")
    func waitingCalls() throws {
        var connection = ServerConnection()
        for number in 0..<4096 {
            #expect(connection.wantsInput)
            try connection.receive(call(number))
        }
        #expect(!connection.wantsInput && connection.callsWaiting == 4096)
        for number in 0..<4096 {
            let call = try #require(try connection.nextCall())
            #expect(connection.wantsInput)
            #expect(try call.decode(Number.self).number == number)
            #expect(connection.reply(Number()) == .queued)
        }
        #expect(try connection.nextCall() == nil)
        #expect(connection.bufferedBytes == connection.pendingOutputCount)
    }

    @Test("calls beyond the limit that have come already are answered too, in order")
    func beyondTheLimit() throws {
        var connection = ServerConnection()
        try connection.receive((0..<10_000).flatMap { call($0) })
        #expect(!connection.wantsInput && connection.callsWaiting == 10_000)
        try ServerConnectionTests.answerAll(&connection)
        let expected = (0..<10_000).map { "{\"parameters\":{\"number\":\($0)}}\0" }.joined()
        #expect(connection.takeOutput() == expected)
        #expect(connection.wantsInput && connection.bufferedBytes == 0)
    }

    @Test(
        "replies that nobody reads stop the reading at 4 MiB, and go out whole in pieces of any size"
    )
    func unsentReplies() throws {
        var connection = ServerConnection()
        var reply = Text()
        reply.text = String(repeating: "x", count: 1 << 16)
        for _ in 0..<64 {
            #expect(connection.wantsInput)
            try connection.receive(frame(#"{"method":"a.B"}"#))
            _ = try connection.nextCall()
            #expect(connection.reply(reply) == .queued)
        }
        #expect(!connection.wantsInput)
        let total = connection.pendingOutputCount
        var random = SeededGenerator(seed: 4)
        var sent = 0
        while connection.pendingOutputCount > 0 {
            let count = min(
                connection.pendingOutputCount,
                Int.random(in: 1...90_000, using: &random)
            )
            connection.withPendingOutput { bytes in
                #expect((bytes[0] == UInt8(ascii: "{")) == (sent % (total / 64) == 0))
            }
            connection.sent(count)
            sent += count
        }
        #expect(sent == total && connection.wantsInput && connection.bufferedBytes == 0)
    }

    @Test(
        "a frame over the limit is refused as soon as it is over, and not kept",
        arguments: [1, 7, 4096]
    )
    func longFrame(piece: Int) throws {
        var limits = ConnectionLimits()
        limits.frameBytesMax = 10_000
        var connection = ServerConnection(limits: limits)
        let bytes = [UInt8](repeating: UInt8(ascii: " "), count: piece)
        #expect(throws: ProtocolViolation.frameTooLong(max: 10_000)) {
            while true {
                try connection.receive(bytes)
                try #require(connection.bufferedBytes <= 10_000)
            }
        }
        #expect(!connection.wantsInput && connection.bufferedBytes > 10_000 - piece)
    }

    @Test("a frame of exactly the limit is taken, and one byte more is not")
    func frameAtTheLimit() throws {
        let text = #"{"method":"a.B"}"#
        var limits = ConnectionLimits()
        limits.frameBytesMax = text.utf8.count
        var connection = ServerConnection(limits: limits)
        try connection.receive(frame(text))
        #expect(try connection.nextCall()?.method == "a.B")
        #expect(throws: ProtocolViolation.frameTooLong(max: text.utf8.count)) {
            try connection.receive(frame(text + " "))
        }
    }

    @Test(
        "the limit of a frame is one of each frame, and not of all together",
        arguments: [1, 16, 1000]
    )
    func limitOfEachFrame(piece: Int) throws {
        var limits = ConnectionLimits()
        limits.frameBytesMax = 20
        var connection = ServerConnection(limits: limits)
        let bytes = (0..<100).flatMap { _ in frame(#"{"method":"a.B"}"#) }
        for start in stride(from: 0, to: bytes.count, by: piece) {
            try connection.receive(bytes[start..<min(start + piece, bytes.count)])
        }
        #expect(connection.callsWaiting == 100)
    }

    @Test("a call of 16 MiB is answered, and its memory counts until its final reply")
    func largeCall() throws {
        var connection = ServerConnection()
        let filler = String(repeating: "é", count: (16 << 19) - 40)
        try connection.receive(frame(#"{"method":"a.B","parameters":{"text":"\#(filler)"}}"#))
        let count = connection.bufferedBytes
        let call = try #require(try connection.nextCall())
        #expect(connection.bufferedBytes >= count - 1)
        #expect(try call.decode(Text.self).text == filler)
        #expect(connection.reply(Empty()) == .queued)
        #expect(connection.takeOutput() == "{\"parameters\":{}}\0" && connection.bufferedBytes == 0)
    }

    @Test("a large unfinished frame is read on, however much waits")
    func unfinishedFrame() throws {
        var connection = ServerConnection()
        try connection.receive([UInt8](repeating: UInt8(ascii: " "), count: (16 << 20) - 16))
        #expect(connection.wantsInput)
        try connection.receive(frame(#"{"method":"a.B"}"#))
        #expect(!connection.wantsInput)
        #expect(try connection.nextCall()?.method == "a.B")
        #expect(connection.wantsInput)
    }

    @Test("1,000,000 pipelined calls cost as much as their number, not its square")
    func linear() throws {
        // The square of so many calls would take an hour, and a run of tests has half of one.
        let text = String(decoding: call(1), as: UTF8.self)
        let burst = Array(String(repeating: text, count: 1_000_000).utf8)
        var connection = ServerConnection()
        try connection.receive(burst)
        while try connection.nextCall() != nil {
            guard connection.reply(Number()) == .queued else { throw NoCall() }
            connection.sent(min(connection.pendingOutputCount, 20))
        }
    }

    @Test("a call that is kept stays readable whatever comes after it")
    func keptCall() throws {
        var connection = ServerConnection()
        var kept: [Call] = []
        for number in 0..<200 {
            try connection.receive(call(number))
            kept.append(try #require(try connection.nextCall()))
            #expect(connection.reply(Number()) == .queued)
        }
        for (number, call) in kept.enumerated() {
            #expect(try call.decode(Number.self).number == number)
        }
    }
}

/// One string.
struct Text: Message, Equatable {
    var text = ""

    mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
        try fields.field("text", &text)
    }
}
