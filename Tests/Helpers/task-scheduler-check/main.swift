// What a program does with BackgroundTaskScheduler, and what comes of it: a line each, for
// BackgroundTaskSchedulerTests.
//
//     task-scheduler-check SCENARIO SOCKET

import BackgroundTime
internal import Glibc

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

/// What never ends by itself: it waits for somebody to resume it.
var paused: BackgroundCommand {
    var command = BackgroundCommand(["true"], name: "paused", budget: .seconds(60))
    command.isPaused = true
    return command
}

/// Watches a task until the first event.
func look(at id: Int) async throws(BackgroundTimeError) {
    for try await _ in scheduler.watch(id) { return }
}

let arguments = CommandLine.arguments
guard arguments.count == 3 else { exit(64) }
let scenario = arguments[1]
let scheduler = BackgroundTaskScheduler(socket: arguments[2])

do throws(BackgroundTimeError) {
    switch scenario {
    case "command":
        var command = BackgroundCommand(
            ["/bin/sh", "-c", "cat; echo \"$WORD\" >&2; exit 3"], budget: .seconds(600))
        command.environment = ["WORD": "world"]
        command.input = Array("hello".utf8)
        command.directory = "/"
        let submission = try await scheduler.submit(command)
        say("\(submission.id) \(submission.receipt == .accepted)")
        let task = try await scheduler.wait(for: submission.id)
        say("\(task.name) \(task.outcome?.rawValue ?? "") \(task.exitStatus ?? 0)")
        for piece in try await scheduler.output(of: task.id).array() {
            say("\(piece.stream): \(piece.text.split(separator: "\n"))")
        }
        let history = try await scheduler.history(named: "sh", outcomes: [.failed]).array()
        let none = try await scheduler.history(named: "sh", outcomes: [.completed]).array()
        say("history \(history.map(\.id)) \(none.map(\.id))")
        let again = try await scheduler.restart(task.id)
        say("again \(try await scheduler.wait(for: again.id).exitStatus ?? 0)")
        try await scheduler.clean([task.id, again.id])
        say("cleaned \(try await scheduler.tasks(ended: true).array().count)")
        _ = try await scheduler.show(task.id)
    case "queued":
        let id = try await scheduler.submit(paused).id
        let tasks = try await scheduler.tasks(named: "paused", states: [.queued]).array()
        say("listed \(tasks.map(\.id) == [id]), \(tasks.first?.waiting ?? "")")
        say("explained \(try await scheduler.explain(id).map(\.rule))")
        say("in time \(try await scheduler.wait(for: id, timeout: .milliseconds(1)) != nil)")
        try await scheduler.cancel(id, reason: "for a test")
        let task = try await scheduler.wait(for: id, timeout: .seconds(600))
        say("\(task?.outcome?.rawValue ?? ""), \(task?.reason ?? "")")
    case "restarted":
        let id = try await scheduler.submit(paused).id
        async let end = Result { () async throws(BackgroundTimeError) in
            try await scheduler.wait(for: id)
        }
        for try await event in scheduler.watch(id) {
            switch event {
            case .task(let event): say("\(event.kind.rawValue) \(event.task.state.rawValue)")
            case .missed(let count): say("missed \(count)")
            case .reconnected: say("reconnected")
            }
        }
        say("waited: \(try await end.get().outcome?.rawValue ?? "")")
    case "cancelled":
        let id = try await scheduler.submit(paused).id
        let wait = Task.detached {
            do throws(BackgroundTimeError) {
                return "\(try await scheduler.wait(for: id).id)"
            } catch {
                return "\(error)"
            }
        }
        let watch = Task.detached {
            var kinds: [String] = []
            for try await case .task(let event) in scheduler.watch(id) {
                kinds.append(event.kind.rawValue)
                say("watches")
            }
            return kinds
        }
        _ = readLine()
        wait.cancel()
        watch.cancel()
        say("wait: \(await wait.value)")
        say("watch: \(await watch.result)")
        try await look(at: id)
        say("left")
        _ = readLine()
    case "many":
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<2000 {
                group.addTask { (try? await scheduler.show(1)) != nil }
            }
            var count = 0
            for await isShown in group where isShown { count += 1 }
            say("shown \(count)")
        }
    case "submit": say("\(try await scheduler.submit(paused).id)")
    case "show": say("\(try await scheduler.show(7).id)")
    default: exit(64)
    }
} catch {
    say("\(error)")
}

extension Result {
    /// What an asynchronous body comes to.
    init(_ body: () async throws(Failure) -> Success) async {
        do throws(Failure) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
