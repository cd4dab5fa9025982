// Works under a time limit: begins a task, is told that the time is nearly over, and ends the task in time.
//
//     hold-example SOCKET [MILLISECONDS [GRACE_MILLISECONDS]]
//
// Without MILLISECONDS the daemon's default budget is asked for.

import BackgroundTime
internal import Glibc

/// Ends the program with one line on standard error.
func leave(_ line: String, _ status: Int32) -> Never {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
    exit(status)
}

let arguments = CommandLine.arguments.dropFirst()
let times = arguments.dropFirst().map { Int($0) ?? 0 }
guard let socket = arguments.first, times.count <= 2, times.allSatisfy({ $0 > 0 }) else {
    leave("usage: hold-example SOCKET [MILLISECONDS [GRACE_MILLISECONDS]]", 64)
}
let spans = times.map { Duration.milliseconds($0) }

do {
    // The time belongs to this program: if it dies, the claim is gone with it.
    try await withBackgroundTask(
        named: "hold-example", budget: spans.first, grace: spans.dropFirst().first, socket: socket
    ) { task in
        var done = 0
        do {
            while true {
                // Here the real work would be done, a piece at a time.
                try await Task.sleep(for: .milliseconds(100))
                done += 1
                try await task.report("piece \(done)", completed: done)
            }
        } catch {
            print("told that the time is nearly over: stopped after \(done) pieces")
            throw error
        }
    }
} catch let error as BackgroundTimeExpired {
    print("ended the task: \(error.outcome ?? "nothing")")
} catch {
    leave("hold-example: \(error)", 1)
}
