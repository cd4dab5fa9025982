// Works under a time limit: begins a task, gets the warning, and ends the task in time.
//
//     hold-example SOCKET [MILLISECONDS [GRACE_MILLISECONDS]]
//
// Without MILLISECONDS the daemon's default budget is asked for.

internal import Glibc
internal import TaskAPI
internal import Varlink

/// One piece of the work; 100 ms of waiting stand for it here.
func workOnePiece() {
    _ = poll(nil, 0, 100)
}

func hold(_ socket: String, _ budget: Tasks.Budget?) throws {
    // The time belongs to this connection: if the program dies, the claim is gone with it.
    let events = try VarlinkClient(address: socket)
    var begin = Tasks.Begin.Input()
    begin.name = "hold-example"
    begin.budget = budget
    try events.send(Tasks.Begin.self, begin, more: true)
    let id = try events.receive(Tasks.Begin.self).output.id

    var done = 0
    while try !isTimeNearlyOver(events) {
        workOnePiece()
        done += 1
    }
    print("warned that the time is nearly over: stopped after \(done) pieces")

    // A second connection, since the first one is busy with the replies to Begin.
    var end = Tasks.End.Input()
    end.id = id
    let outcome = try VarlinkClient(address: socket).call(Tasks.End.self, end).outcome
    print("ended the task: \(outcome?.rawValue ?? "nothing")")
}

/// Looks at what has come, without waiting.
func isTimeNearlyOver(_ events: VarlinkClient) throws -> Bool {
    while let reply = try events.receiveIfReady(Tasks.Begin.self) {
        if reply.output.event?.kind == .expiring || !reply.continues { return true }
    }
    return false
}

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
var budget: Tasks.Budget?
if let duration = times.first {
    budget = Tasks.Budget()
    budget?.durationMs = duration
    budget?.graceMs = times.count == 2 ? times[1] : min(1000, duration / 2)
}
do {
    try hold(socket, budget)
} catch {
    leave("hold-example: \(error)", 1)
}
