// A daemon small enough to be killed: for the tests of LinuxSystem.
//
//   hold CONTAINMENT STATE-FOLDER COUNT COMMAND…   starts COUNT commands, prints "ready", waits
//   as CONTAINMENT STATE-FOLDER USER COMMAND…      runs a command as a user (and the group of that
//                                                  number) to its end; prints what it prints,
//                                                  and "started" on standard error
//   routes                                         prints the interface of the default route, or
//                                                  "none", and again when that changes
//   routes-by-parts                                the same, and stops (SIGSTOP) after each part that it takes
//   uevents                                        prints "ready" where uevents can be had
import Glibc
import LinuxSystem

/// What runs commands, and ends with this process.
struct Runner {
    let host: ProcessHost
    let executor: ExecutorLink
    let tree: CgroupTree?

    init(_ containment: String, _ stateFolder: String) throws {
        tree = containment == "cgroup" ? try CgroupTree(stateFolder: stateFolder) : nil
        host = try ProcessHost()
        executor = try host.connect(
            .program(
                ExecutorProgram(
                    path: try installedProgram(ExecutorProgram.name), groupFolder: tree?.folder,
                    stateFolder: ExecutorFolder(stateFolder: stateFolder).path)),
            owner: ExecutorLink.Owner(high: 1, low: 2))
    }

    func start(_ number: Int, _ request: LaunchRequest) throws -> ExecutedCommand {
        let command = executor.makeCommand(UInt64(number))
        let never = CommandTimes(handlerAt: 0, limitAt: 0, notes: [])
        try command.start(
            request,
            ExecutedCommand.Start(
                attempt: 1, handlerSignal: nil, handler: [], times: never, grace: 0, kept: nil))
        return command
    }

    /// Waits for something, of the host or in a pipe.
    func wait(or pipe: Int32 = -1) throws -> [ProcessEvent] {
        var events: [ProcessEvent] = []
        var ready = [host.descriptor, pipe].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        poll(&ready, 2, -1)
        try host.poll(into: &events)
        return events
    }
}

func hold(_ arguments: ArraySlice<String>) throws {
    let words = Array(arguments)
    let runner = try Runner(words[0], words[1])
    let commands = try (1...(Int(words[2]) ?? 1)).map {
        try runner.start($0, LaunchRequest(arguments: Array(words[3...])))
    }
    var startedCount = 0
    while startedCount < commands.count {
        startedCount += try runner.wait().count {
            if case .started = $0.what { true } else { false }
        }
    }
    // The first line of a command says that its processes are all there.
    for command in commands {
        guard let output = command.takeStandardOutput() else { continue }
        var ready = pollfd(fd: output.take(), events: Int16(POLLIN), revents: 0)
        poll(&ready, 1, -1)
    }
    print("ready")
    fflush(nil)
    while true { _ = try runner.wait() }
}

func runAs(_ arguments: ArraySlice<String>) throws {
    let words = Array(arguments)
    let runner = try Runner(words[0], words[1])
    let user = UInt32(words[2]) ?? 0
    let command = try runner.start(
        1,
        LaunchRequest(
            arguments: Array(words[3...]), directory: "/",
            user: .init(user: user, group: user, groups: [])))
    var output: Int32 = -1
    var isOver = false
    while !isOver {
        for event in try runner.wait(or: output) {
            switch event.what {
            case .started:
                write(STDERR_FILENO, "started\n", 8)
                output = command.takeStandardOutput()?.take() ?? -1
            case .startFailed(_, let error):
                print("failed: \(error)")
                isOver = true
            case .gone: isOver = true
            default: break
            }
        }
        pass(output)
    }
    runner.executor.close()
    try runner.tree?.remove()
}

/// Prints what a pipe has.
func pass(_ pipe: Int32) {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(pipe, &bytes, bytes.count)
        if count <= 0 { break }
        write(STDOUT_FILENO, bytes, count)
    }
}

func routes(stops: Bool) throws {
    let routes = try RouteWatch()
    var told = RouteWatch.State.unknown
    while true {
        var ready = pollfd(fd: routes.descriptor, events: Int16(POLLIN), revents: 0)
        poll(&ready, 1, -1)
        try routes.read()
        if stops { raise(SIGSTOP) }
        guard routes.state != told else { continue }
        told = routes.state
        if case .through(let interface) = told { print(interface ?? "?") } else { print(told) }
        fflush(nil)
    }
}

func uevents() throws {
    _ = try UeventWatch(subsystem: "power_supply")
    print("ready")
}

let arguments = CommandLine.arguments.dropFirst()
do {
    switch arguments.first {
    case "hold": try hold(arguments.dropFirst())
    case "as": try runAs(arguments.dropFirst())
    case "routes": try routes(stops: false)
    case "routes-by-parts": try routes(stops: true)
    case "uevents": try uevents()
    default: exit(64)
    }
} catch {
    print("failed: \(error)")
    exit(1)
}
