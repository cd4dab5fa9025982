import CallFuzz
import Glibc

// Calls the daemon at SOCKET for SECONDS, or until SIGTERM: what its interfaces describe, at the extremes and
// in random sequences. Started by Tests/System/fuzz-live, as the user whose calls they are to be.
//
// usage: call-fuzzer SOCKET SEED SECONDS TRACE [PID...]
//
// TRACE: a file that has the newest calls whenever a connection ended that should not have. PID: a process of
// the user's that may hold tasks. Prints `calls N`, `surprises N`, `connections N` and `answer NAME N`.

guard CommandLine.arguments.count >= 5, let seed = UInt64(CommandLine.arguments[2]),
    let seconds = Int(CommandLine.arguments[3])
else {
    print("usage: call-fuzzer SOCKET SEED SECONDS TRACE [PID...]")
    exit(64)
}
signal(SIGTERM) { _ in isAskedToEnd = 1 }
Fuzzer(
    socket: CommandLine.arguments[1], seed: seed, seconds: seconds,
    trace: CommandLine.arguments[4],
    processIDs: CommandLine.arguments.dropFirst(5).compactMap { Int($0) }
).run()
