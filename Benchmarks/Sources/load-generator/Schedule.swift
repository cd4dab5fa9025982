/// When the load begins, counts and ends, and when its operations are due; in nanoseconds.
struct Schedule {
    let start: UInt64
    let warmUpEnd: UInt64
    let end: UInt64

    /// When it gives up to wait for what was due.
    let patienceEnd: UInt64

    /// Between two operations; `nil` in a closed loop.
    let interval: Double?

    /// How many operations are due before the end.
    let count: UInt64

    init(_ arguments: Arguments, start: UInt64) {
        self.start = start
        warmUpEnd = start + UInt64(arguments.warmUp * Double(Clock.second))
        end = warmUpEnd + UInt64(arguments.seconds * Double(Clock.second))
        patienceEnd = end + 10 * Clock.second
        interval = arguments.rate.map { Double(Clock.second) / $0 }
        count = UInt64((arguments.warmUp + arguments.seconds) * (arguments.rate ?? 0))
    }

    /// When an operation is due, counted from 0.
    func due(_ number: UInt64) -> UInt64 {
        start + UInt64(Double(number) * (interval ?? 0))
    }
}
