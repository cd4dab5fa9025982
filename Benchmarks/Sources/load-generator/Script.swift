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
        requestBytesMax = max(request.count, before.count + Self.digitsMax + after.count)
    }

    /// How many digits the number has that stands behind the start of a good reply, 0 where it has none;
    /// `nil` where it is another reply.
    static func digits(
        in frame: UnsafePointer<UInt8>,
        length: Int,
        of reply: Reply
    ) -> Int? {
        guard length >= reply.start.count, reply.start.begin(frame) else { return nil }
        guard reply.hasNumber else { return 0 }
        let number = frame + reply.start.count
        let rest = length - reply.start.count
        var digits = 0
        while digits < rest, number[digits] &- UInt8(ascii: "0") < 10 { digits += 1 }
        guard 1...Self.digitsMax ~= digits, rest - digits >= reply.rest.count,
            reply.rest.begin(number + digits)
        else { return nil }
        return digits
    }

    /// What the longest number takes.
    private static let digitsMax = 20

    private static func reply(_ reply: Exchange.Reply) -> Reply {
        Reply(
            start: FixedBytes(reply.start), hasNumber: reply.hasNumber,
            rest: FixedBytes(reply.rest))
    }
}
