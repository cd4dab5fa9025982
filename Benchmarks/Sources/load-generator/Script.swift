import BenchmarkSockets

/// An exchange as bytes that are sent as they are, and replies that are compared with as little as it takes.
struct Script {
    struct Reply {
        let start: FixedBytes
        let hasNumber: Bool
        let rest: FixedBytes
    }

    let request: FixedBytes
    let reply: Reply
    let hasFollowing: Bool
    let before: FixedBytes
    let after: FixedBytes
    let followingReply: Reply
    let terminator: UInt8

    /// The longest request has so many bytes at most.
    let requestBytesMax: Int

    init(_ exchange: Exchange) {
        request = FixedBytes(exchange.request)
        reply = Self.reply(exchange.reply)
        hasFollowing = exchange.following != nil
        before = FixedBytes(exchange.following?.before ?? "")
        after = FixedBytes(exchange.following?.after ?? "")
        followingReply = Self.reply(exchange.following?.reply ?? exchange.reply)
        terminator = exchange.terminator
        requestBytesMax = max(request.count, before.count + 20 + after.count)
    }

    /// The number in a good reply, 0 in a good one without; `nil` where it is another reply.
    static func number(
        in frame: UnsafePointer<UInt8>,
        length: Int,
        of reply: Reply
    ) -> UInt64? {
        guard length >= reply.start.count, reply.start.begin(frame) else { return nil }
        guard reply.hasNumber else { return 0 }
        var number: UInt64 = 0
        var place = reply.start.count
        while place < length, frame[place] &- UInt8(ascii: "0") < 10 {
            number = number &* 10 &+ UInt64(frame[place] &- UInt8(ascii: "0"))
            place += 1
        }
        guard place > reply.start.count, length - place >= reply.rest.count,
            reply.rest.begin(frame + place)
        else { return nil }
        return number
    }

    private static func reply(_ reply: Exchange.Reply) -> Reply {
        Reply(
            start: FixedBytes(reply.start), hasNumber: reply.hasNumber, rest: FixedBytes(reply.rest)
        )
    }
}
