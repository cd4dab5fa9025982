import Systemd

/// A loop that did not end by itself.
struct LoopDidNotEnd: Error {}

extension EventLoop {
    /// Runs the loop; throws where it does not end within 20 s.
    func runBounded() throws -> Int32 {
        let bound = try addTimer { throw LoopDidNotEnd() }
        try bound.arm(atNanoseconds: EventLoop.monotonicNanoseconds() + 20_000_000_000)
        defer { bound.remove() }
        return try run()
    }
}

/// Something that a handler throws.
struct HandlerFailed: Error, Equatable {
    var number = 1
}
