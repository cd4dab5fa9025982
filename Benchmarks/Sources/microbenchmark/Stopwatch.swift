internal import Glibc

/// Measures the processor's time of this thread, which waits for nothing: that is the time that passes where
/// nobody else wants the processor, and what others take of it does not count.
enum Stopwatch {
    static func seconds(_ work: () throws -> Void) rethrows -> Double {
        let start = now
        try work()
        return now - start
    }

    /// Measures several things in turn, round after round, so that what slows the machine for a while
    /// slows all of them.
    ///
    /// - Parameter measure: measures one of them, by its index.
    /// - Returns: of each the median of its rounds.
    static func inTurn(
        _ count: Int, rounds: Int, _ measure: (Int) throws -> Double
    ) rethrows -> [Double] {
        var figures = Array(repeating: [Double](), count: count)
        for _ in 0..<rounds {
            for index in 0..<count { figures[index].append(try measure(index)) }
        }
        return figures.map { $0.sorted()[rounds / 2] }
    }

    private static var now: Double {
        var time = timespec()
        let result = clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        precondition(result == 0, "a thread has a clock of its processor's time")
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
