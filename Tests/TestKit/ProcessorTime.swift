internal import Glibc

/// What something takes of a processor on this thread, in nanoseconds; the machine's other work is no part of it.
package func processorTime(_ body: () throws -> Void) rethrows -> Int64 {
    func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
    let begin = now()
    try body()
    return now() - begin
}
