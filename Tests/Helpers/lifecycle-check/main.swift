// A plain service that stops under load, and what comes of its jobs: a line each, for LifecycleTests.
//
//     lifecycle-check SOCKET
//
// Three jobs are held when SIGTERM comes: one ends when it has read a line and has handed in another job, one never, and
// one ignores that its time is over.

import BackgroundTimeLifecycle
import BackgroundTime
internal import Glibc
import Logging
import ServiceLifecycle

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

/// Waits until it is cancelled.
func waitForCancel() async throws {
    // Nobody puts anything into it: only a cancel ends it.
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
    continuation.finish()
    try Task.checkCancellation()
}

/// Hands in jobs, and stops as any other service does.
struct Producer: Service {
    let background: BackgroundTaskService

    func run() async throws {
        start("reads", grace: .seconds(200)) {
            _ = await Task.detached { readLine() }.value
            do {
                try await background.withBackgroundTask(named: "late") { _ in }
            } catch {
                say("late: \(error)")
            }
        }
        start("stuck", grace: .seconds(200)) { try await waitForCancel() }
        start("ignores", grace: .milliseconds(100)) {
            await Task.detached { try? await waitForCancel() }.value
        }
        try await gracefulShutdown()
    }

    private func start(
        _ name: String, grace: Duration, _ work: @escaping @Sendable () async throws -> Void
    ) {
        Task {
            do {
                try await background.withBackgroundTask(
                    named: name, budget: .seconds(400), grace: grace
                ) { _ in try await work() }
                say("\(name): done")
            } catch {
                say("\(name): \(error)")
            }
        }
    }
}

guard CommandLine.arguments.count == 2 else { exit(64) }
let background = BackgroundTaskService(socket: CommandLine.arguments[1])
let group = ServiceGroup(
    services: [background, Producer(background: background)],
    gracefulShutdownSignals: [.sigterm], logger: Logger(label: "lifecycle-check"))
try await group.run()
say("all has stopped")
