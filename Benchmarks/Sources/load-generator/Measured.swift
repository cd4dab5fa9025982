/// What was seen after the warm-up.
struct Measured {
    private let warmUpEnd: UInt64
    private var latencies = Histogram()
    private var startUsed: UInt64?
    private var used: UInt64 = 0
    private var nanoseconds: UInt64 = 0

    /// Operations that were begun, those of the warm-up among them.
    var begun: UInt64 = 0

    /// When the last operation was done.
    private(set) var lastEnd: UInt64 = 0

    init(from warmUpEnd: UInt64) {
        self.warmUpEnd = warmUpEnd
    }

    /// Notes that the loop has turned once more.
    mutating func turn(at now: UInt64) {
        if startUsed == nil, now >= warmUpEnd { startUsed = Clock.used() }
    }

    /// Notes that an operation is done. It counts by when it was due where that was fixed, and otherwise
    /// by when it was done.
    mutating func end(start: UInt64, at now: UInt64, isScheduled: Bool) {
        if (isScheduled ? start : now) >= warmUpEnd { latencies.record(now &- start) }
        lastEnd = now
    }

    /// Notes that the load is over.
    mutating func finish(at end: UInt64) {
        nanoseconds = end - min(warmUpEnd, end)
        used = Clock.used() - (startUsed ?? Clock.used())
    }

    /// One line of JSON.
    var report: String {
        let seconds = Double(nanoseconds) / Double(Clock.second)
        let perSecond = seconds > 0 ? (Double(latencies.total) / seconds).rounded() : 0
        let percentiles = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)].map {
            "\"\($0)\": \(Double(latencies.percentile($1)) / 1000)"
        }
        return """
            {"begun": \(begun), "operations": \(latencies.total), "seconds": \(seconds), \
            "operationsPerSecond": \(perSecond), \
            "processorSeconds": \(Double(used) / Double(Clock.second)), \
            "latency": {\(percentiles.joined(separator: ", ")), \
            "max": \(Double(latencies.longest) / 1000)}}
            """
    }
}
