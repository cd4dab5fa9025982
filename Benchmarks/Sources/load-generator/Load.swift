import BenchmarkSockets
import Glibc

/// The load itself: one thread, one epoll, and no memory taken while it runs.
struct Load {
    let script: Script
    let schedule: Schedule
    let poller: Poller
    let clients: UnsafeMutableBufferPointer<Client>
    /// Places in pipelines where nothing is under way; open loop alone.
    var idle: IdleRing
    var measured: Measured

    init(_ arguments: Arguments) throws {
        script = Script(arguments.exchange)
        poller = try Poller(batch: 1024)
        clients = .allocate(capacity: arguments.clients)
        idle = IdleRing(capacity: arguments.clients * arguments.depth)
        for index in 0..<arguments.clients {
            let descriptor = try UnixSocket.connect(to: arguments.path)
            let client = Client(
                descriptor: descriptor, depth: arguments.depth,
                requestBytesMax: script.requestBytesMax)
            clients.initializeElement(at: index, to: client)
            try poller.add(descriptor, token: index)
        }
        // Round the clients, so that the first operations are spread over all.
        for _ in 0..<arguments.depth {
            for index in 0..<arguments.clients { idle.append(index) }
        }
        schedule = Schedule(arguments, start: Clock.now())
        measured = Measured(from: schedule.warmUpEnd)
    }

    /// Runs to the end, and tells what was measured.
    mutating func run() throws -> Measured {
        if schedule.interval == nil { try beginEverywhere() }
        var now = Clock.now()
        while now < schedule.end || isBehind {
            if schedule.interval != nil {
                try beginDue(at: now)
                guard now < schedule.patienceEnd else {
                    throw SocketError("the server does not keep up with this rate")
                }
            }
            let ready = try poller.wait(milliseconds: schedule.interval == nil ? 1000 : 0)
            for index in 0..<ready { try hear(poller.token(at: index)) }
            now = Clock.now()
            measured.turn(at: now)
        }
        // A schedule may be done before its end, and is then not the faster for it.
        let end = schedule.interval == nil ? now : max(schedule.end, measured.lastEnd)
        measured.finish(at: end)
        guard measured.lastEnd > schedule.warmUpEnd else {
            throw SocketError("the server answered nothing after the warm-up")
        }
        return measured
    }

    /// Whether operations of a schedule are still to be begun or to be answered.
    private var isBehind: Bool {
        schedule.interval != nil && (measured.begun < schedule.count || !idle.isFull)
    }

    private mutating func beginEverywhere() throws {
        while let index = idle.takeFirst() { begin(index, start: Clock.now()) }
        for index in clients.indices { try flush(index) }
    }

    /// Begins what is due, where a place is free; what is not begun stays due.
    private mutating func beginDue(at now: UInt64) throws {
        while measured.begun < schedule.count {
            let due = schedule.due(measured.begun)
            guard due <= now, let index = idle.takeFirst() else { return }
            begin(index, start: due)
            try flush(index)
        }
    }

    private mutating func begin(_ index: Int, start: UInt64) {
        clients[index].output.append(script.request)
        clients[index].expect(Client.Outstanding(start: start, isFollowing: false))
        measured.begun &+= 1
    }

    private func flush(_ index: Int) throws {
        try clients[index].output.drain(to: clients[index].descriptor)
    }

    /// Reads a client's replies, and sends what follows them in one piece.
    private mutating func hear(_ index: Int) throws {
        guard try clients[index].input.fill(from: clients[index].descriptor) else {
            throw SocketError("the server closed a connection")
        }
        let now = Clock.now()
        let bytes = clients[index].input.bytes
        let count = clients[index].input.count
        var place = 0
        while let end = memchr(bytes + place, Int32(script.terminator), count - place) {
            let length = UnsafeRawPointer(end) - UnsafeRawPointer(bytes + place)
            try answer(index, bytes + place, length: length, at: now)
            place += length + 1
        }
        clients[index].input.drop(first: place)
        guard clients[index].input.hasRoom(for: 1) else {
            throw SocketError("a reply is longer than \(count) bytes")
        }
        try flush(index)
    }

    /// Checks one reply and adds what its client sends next.
    private mutating func answer(
        _ index: Int,
        _ frame: UnsafeMutablePointer<UInt8>,
        length: Int,
        at now: UInt64
    ) throws {
        guard clients[index].isWaiting else { throw unexpected(frame, length) }
        let request = clients[index].takeFirst()
        let good = request.isFollowing ? script.followingReply : script.reply
        guard let digits = Script.digits(in: frame, length: length, of: good) else {
            throw unexpected(frame, length)
        }
        if script.hasFollowing && !request.isFollowing {
            clients[index].output.append(script.before)
            clients[index].output.append(frame + good.start.count, count: digits)
            clients[index].output.append(script.after)
            clients[index].expect(Client.Outstanding(start: request.start, isFollowing: true))
            return
        }
        measured.end(start: request.start, at: now, isScheduled: schedule.interval != nil)
        if schedule.interval == nil {
            begin(index, start: now)
        } else {
            idle.append(index)
        }
    }

    private func unexpected(_ frame: UnsafeMutablePointer<UInt8>, _ length: Int) -> SocketError {
        let text = String(decoding: UnsafeBufferPointer(start: frame, count: length), as: UTF8.self)
        return SocketError("the server answered \(text)")
    }
}
