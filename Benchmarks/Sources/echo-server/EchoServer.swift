import BenchmarkSockets
import Glibc

/// Answers as bgtaskd answers a begin and an end, and does nothing else: what the sockets and the load
/// generator can do at most.
@main
enum EchoServer {
    static func main() {
        Program.run("echo-server") {
            guard CommandLine.arguments.count == 2 else { throw SocketError("on what socket?") }
            try serve(CommandLine.arguments[1])
        }
    }

    private static func serve(_ path: String) throws {
        let listener = try UnixSocket.listen(on: path)
        let poller = try Poller(batch: 1024)
        try poller.add(listener, token: Int(listener))
        // By descriptor; one is used again when its connection was closed.
        let peers = UnsafeMutablePointer<Peer?>.allocate(capacity: 1 << 16)
        peers.initialize(repeating: nil, count: 1 << 16)
        let replies = Replies()
        while true {
            for index in 0..<(try poller.wait(milliseconds: -1)) {
                let descriptor = poller.token(at: index)
                if descriptor == Int(listener) {
                    while let accepted = try UnixSocket.accept(from: listener) {
                        if peers[Int(accepted)] == nil { peers[Int(accepted)] = Peer() }
                        try poller.add(accepted, token: Int(accepted))
                    }
                } else {
                    try peers[descriptor]?.answer(Int32(descriptor), replies)
                }
            }
        }
    }
}

/// A connection, and what is on its way.
private struct Peer {
    private var input = ByteBuffer(capacity: 1 << 14)
    private var output = ByteBuffer(capacity: 1 << 16)

    /// Answers what has come; closes a connection that was closed.
    mutating func answer(_ descriptor: Int32, _ replies: Replies) throws {
        guard try input.fill(from: descriptor) else {
            input.drop(first: input.count)
            close(descriptor)
            return
        }
        var place = 0
        while let end = memchr(input.bytes + place, 0, input.count - place) {
            let length = UnsafeRawPointer(end) - UnsafeRawPointer(input.bytes + place)
            let word = place + Replies.verb
            let isEnd = length > Replies.verb && input.bytes[word] == UInt8(ascii: "E")
            output.append(isEnd ? replies.end : replies.begin)
            place += length + 1
        }
        input.drop(first: place)
        try output.drain(to: descriptor)
    }
}

/// What bgtaskd would say, with an id of seven digits.
private struct Replies {
    /// Where a request's method has its last word.
    static let verb = #"{"method":"org.bgtaskd.Tasks."#.utf8.count

    let begin = FixedBytes(
        #"{"parameters":{"id":1234567,"remaining":{"ms":175000,"hardMs":180000,"#
            + #""bound":"ownBudget"}}}"# + "\0")
    let end = FixedBytes(#"{"parameters":{"outcome":"completed"}}"# + "\0")
}
