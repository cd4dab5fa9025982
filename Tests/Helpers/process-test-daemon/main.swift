// A daemon small enough to be killed: for the tests and the measurements of LinuxSystem.
//
//   hold CONTAINMENT STATE-FOLDER COUNT COMMAND…   starts COUNT tasks, prints "ready", waits
//   soak CONTAINMENT STATE-FOLDER COUNT            launches `true`, 2 at once; prints what is left
//   bare COUNT                                     the same with posix_spawn(3) alone
//   as CONTAINMENT STATE-FOLDER USER COMMAND…      runs a command as a user (and the group of that
//                                                  number) to its end; prints what it prints,
//                                                  and "started" on standard error
//   routes                                         prints the interface of the default route, or
//                                                  "none", and again when that changes
//   uevents                                        prints "ready" where uevents can be had
import Glibc
import LinuxSystem

func containment(_ name: String, _ stateFolder: String) throws -> Containment {
    name == "cgroup"
        ? .cgroup(try CgroupTree(stateFolder: stateFolder))
        : .supervisor(path: try Containment.supervisorPath())
}

func waitAndPoll(_ host: ProcessHost, into events: inout [ProcessEvent]) throws {
    var ready = [host.descriptor, host.childDescriptor ?? -1].map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    poll(&ready, 2, -1)
    try host.poll(into: &events)
    try host.pollChildren(into: &events)
}

func hold(_ arguments: ArraySlice<String>) throws {
    let words = Array(arguments)
    let host = try ProcessHost(try containment(words[0], words[1]))
    var tasks: [any TaskProcesses] = []
    var outputs: [Int32] = []
    var started = 0
    for number in 0..<(Int(words[2]) ?? 1) {
        let task = try host.makeTask(UInt64(number))
        var process = try task.start(LaunchRequest(arguments: Array(words[3...])))
        outputs.append(process.takeStandardOutput().take())
        tasks.append(task)
    }
    var events: [ProcessEvent] = []
    while started < tasks.count {
        try waitAndPoll(host, into: &events)
        started += events.filter { if case .started = $0.what { true } else { false } }.count
        events = []
    }
    // The first line of a task says that its processes are all there.
    for output in outputs {
        var ready = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        poll(&ready, 1, -1)
    }
    print("ready")
    fflush(nil)
    while true { try waitAndPoll(host, into: &events) }
}

func residentPages() -> Int {
    let file = open("/proc/self/statm", O_RDONLY)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 128)
    let count = read(file, &bytes, bytes.count)
    let fields = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).split(separator: " ")
    return fields.count > 1 ? Int(fields[1]) ?? 0 : 0
}

func entryCount(_ path: String) -> Int {
    guard let folder = opendir(path) else { return -1 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
}

func launch(_ count: Int, on host: ProcessHost) throws {
    var next = 0
    var live: [UInt64: any TaskProcesses] = [:]
    var events: [ProcessEvent] = []
    let request = LaunchRequest(arguments: ["true"])
    while next < count || !live.isEmpty {
        while next < count, live.count < 2 {
            let task = try host.makeTask(UInt64(next))
            _ = try task.start(request)
            live[UInt64(next)] = task
            next += 1
        }
        try waitAndPoll(host, into: &events)
        for event in events where event.what == .gone {
            live.removeValue(forKey: event.task)?.close()
        }
        events.removeAll(keepingCapacity: true)
    }
}

func soak(_ arguments: ArraySlice<String>) throws {
    let words = Array(arguments)
    let containment = try containment(words[0], words[1])
    let host = try ProcessHost(containment)
    var groups = "/nonexistent"
    if case .cgroup(let tree) = containment { groups = tree.folder }
    try launch(200, on: host)
    func state() throws -> (descriptors: Int, groups: Int, children: Int) {
        (entryCount("/proc/self/fd"), entryCount(groups), try adoptedOrphans(known: []).count)
    }
    let before = try state()
    let pages = residentPages()
    let begin = MonotonicClock.now()
    let count = Int(words[2]) ?? 0
    try launch(count, on: host)
    let elapsed = MonotonicClock.now() - begin
    let after = try state()
    let grown = residentPages() - pages
    print("before \(before) after \(after)")
    print("grown by \(grown * 4) KiB")
    print("\(elapsed / Int64(max(count, 1)) / 1000) µs a launch")
    if before == after, grown < 128 { print("clean") }
    if case .cgroup(let tree) = containment { try tree.remove() }
}

func bare(_ count: Int) {
    var running = 0
    var next = 0
    let begin = MonotonicClock.now()
    while next < count || running > 0 {
        while next < count, running < 2 {
            var processID: pid_t = 0
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
            if posix_spawnp(&processID, "true", nil, nil, &arguments, environ) == 0 { running += 1 }
            free(arguments[0])
            next += 1
        }
        var status: Int32 = 0
        if waitpid(-1, &status, 0) > 0 { running -= 1 }
    }
    print("\((MonotonicClock.now() - begin) / Int64(max(count, 1)) / 1000) µs a launch")
}

func runAs(_ arguments: ArraySlice<String>) throws {
    let words = Array(arguments)
    let containment = try containment(words[0], words[1])
    let host = try ProcessHost(containment)
    let task = try host.makeTask(1)
    let user = UInt32(words[2]) ?? 0
    let request = LaunchRequest(
        arguments: Array(words[3...]),
        directory: "/",
        user: .init(user: user, group: user, groups: [])
    )
    var process = try task.start(request)
    let output = process.takeStandardOutput().take()
    var bytes = [UInt8](repeating: 0, count: 65_536)
    var events: [ProcessEvent] = []
    var isGone = false
    while !isGone {
        var ready = [host.descriptor, host.childDescriptor ?? -1, output].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        poll(&ready, 3, -1)
        try host.poll(into: &events)
        try host.pollChildren(into: &events)
        for case .started in events.map(\.what) { write(STDERR_FILENO, "started\n", 8) }
        for case .startFailed(_, let error) in events.map(\.what) { print("failed: \(error)") }
        isGone = events.contains { $0.what == .gone }
        events = []
        while true {
            let count = read(output, &bytes, bytes.count)
            if count <= 0 { break }
            write(STDOUT_FILENO, bytes, count)
        }
    }
    task.close()
    if case .cgroup(let tree) = containment { try tree.remove() }
}

func routes() throws {
    let routes = try RouteWatch()
    var told = RouteWatch.State.unknown
    while true {
        var ready = pollfd(fd: routes.descriptor, events: Int16(POLLIN), revents: 0)
        poll(&ready, 1, -1)
        try routes.read()
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
    case "soak": try soak(arguments.dropFirst())
    case "as": try runAs(arguments.dropFirst())
    case "routes": try routes()
    case "uevents": try uevents()
    case "bare": bare(Int(arguments.last ?? "") ?? 0)
    default: exit(64)
    }
} catch {
    print("failed: \(error)")
    exit(1)
}
