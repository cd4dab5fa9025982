import BenchmarkSockets

/// One connection: what it has asked and not yet heard, in order.
struct Client {
    /// A request whose reply is to come.
    struct Outstanding {
        /// When its operation was to begin, in nanoseconds.
        var start: UInt64
        /// Whether it is the operation's second request.
        var isFollowing: Bool
    }

    let descriptor: Int32
    var input: ByteBuffer
    var output: ByteBuffer

    /// A ring; replies come in the order of their requests.
    private let outstanding: UnsafeMutablePointer<Outstanding>
    private let mask: Int
    private var first = 0
    private var count = 0

    init(descriptor: Int32, depth: Int, requestBytesMax: Int) {
        self.descriptor = descriptor
        input = ByteBuffer(capacity: 1 << 14)
        // Each place in the pipeline may have one request here that the socket did not take.
        output = ByteBuffer(capacity: depth * requestBytesMax)
        var capacity = 1
        while capacity < depth { capacity *= 2 }
        mask = capacity - 1
        outstanding = .allocate(capacity: capacity)
        outstanding.initialize(
            repeating: Outstanding(start: 0, isFollowing: false), count: capacity)
    }

    /// Whether a reply is to come.
    var isWaiting: Bool { count > 0 }

    /// Notes a request that has been added to the output.
    mutating func expect(_ request: Outstanding) {
        outstanding[(first &+ count) & mask] = request
        count &+= 1
    }

    /// The request that the next reply is for; there must be one.
    mutating func takeFirst() -> Outstanding {
        let request = outstanding[first & mask]
        first &+= 1
        count &-= 1
        return request
    }
}
