// What a program does with the library, and what comes of it: a line each, for BackgroundTimeTests.
//
//     background-time-check SCENARIO SOCKET

import BackgroundTime
internal import Glibc

/// Waits until it is cancelled.
func waitForCancel() async throws {
    // Nobody puts anything into it: only a cancel ends it.
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
    try Task.checkCancellation()
}

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { exit(64) }
let (scenario, path) = (arguments[1], arguments[2])

do {
    switch scenario {
    case "value":
        let value = try await withBackgroundTask(
            named: "upload", budget: .seconds(300), socket: path
        ) { task in
            try await task.report("packing", completed: 3, total: 8)
            let left = try await task.remaining()
            let again = try await task.extend()
            say(
                "begun \(task.id ?? 0), \(left.untilExpiration ?? .zero < left.untilLimit ?? .zero)"
            )
            _ = readLine()
            return again.untilLimit ?? .zero > .seconds(200) && !task.isExpired
        }
        say("value \(value)")
    case "expires":
        try await withBackgroundTask(
            named: "late", budget: .milliseconds(400_050), grace: .seconds(400), socket: path
        ) { task in
            do {
                try await waitForCancel()
            } catch {
                var events = task.events.makeAsyncIterator()
                say("told \(await events.next().map { "\($0)" } ?? "nothing"), \(task.isExpired)")
                throw error
            }
        }
    case "saves":
        let value = try await withBackgroundTask(
            named: "saves", budget: .milliseconds(400_050), grace: .seconds(400), socket: path
        ) { _ in
            try? await waitForCancel()
            return "saved"
        }
        say(value)
    case "cancelled":
        let work = Task.detached {
            try await withBackgroundTask(named: "cancelled", socket: path) { _ in
                say("begun")
                try await waitForCancel()
            }
        }
        _ = readLine()
        work.cancel()
        try await work.value
    case "lost":
        do {
            try await withBackgroundTask(named: "lost", socket: path) { _ in
                say("begun")
                try await waitForCancel()
            }
        } catch {
            say("\(error)")
        }
        _ = readLine()
        try await withBackgroundTask(named: "later", socket: path) { say("again \($0.id != nil)") }
    case "alone":
        try await withBackgroundTask(
            named: "alone", socket: path, withoutDaemon: .isIgnored
        ) { task in
            try await task.report("nobody looks")
            let left = try await task.remaining()
            say("\(task.id == nil), \(left.untilLimit == nil)")
        }
        try await withBackgroundTask(named: "alone", socket: path) { _ in say("not reached") }
    case "refused":
        try await withBackgroundTask(named: "", socket: path) { _ in say("not reached") }
    case "many":
        let over = await withTaskGroup(of: String.self) { group in
            for _ in 0..<1000 {
                group.addTask {
                    do {
                        try await withBackgroundTask(named: "one of many", socket: path) { _ in
                            say("begun")
                            try await waitForCancel()
                        }
                        return "returned"
                    } catch {
                        return "\(error)"
                    }
                }
            }
            var counts: [String: Int] = [:]
            for await end in group { counts[end, default: 0] += 1 }
            return counts
        }
        for (end, count) in over { say("\(count) times: \(end)") }
    default: exit(64)
    }
} catch {
    say("\(error)")
}
