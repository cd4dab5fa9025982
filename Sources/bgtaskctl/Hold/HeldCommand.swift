internal import Glibc
internal import LinuxSystem
internal import TaskAPI

/// A command that runs as our own child, in a process group of its own, with our own standard input and output.
final class HeldCommand {
    private let process: pid_t
    private var terminal: JobTerminal?

    /// Starts a command; the first word is searched for in `PATH`.
    ///
    /// - Parameters:
    ///   - variables: added to this process's environment.
    ///   - defaults: signals that this process ignores and the command is not to.
    init(_ command: [String], variables: [String: String], defaults: [Int32]) throws(Failure) {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setpgroup(&attributes, 0)
        var set = sigset_t()
        sigemptyset(&set)
        for number in defaults { sigaddset(&set, number) }
        posix_spawnattr_setsigdefault(&attributes, &set)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF))
        var process: pid_t = 0
        let words = CStrings(command)
        let environment = CStrings(HeldCommand.environment(with: variables))
        let code = posix_spawnp(
            &process, words.first, nil, &attributes, words.pointers, environment.pointers)
        guard code == 0 else {
            let name = command.first ?? ""
            throw Failure("cannot run \(name): \(ErrorText.of(code))", status: ExitStatus.ours)
        }
        self.process = process
        terminal = JobTerminal()
        terminal?.handOver(to: process)
    }

    /// Sends a signal to every process of the command's group.
    func signal(_ number: Int32) {
        kill(-process, number)
        // The stopped act on SIGKILL alone; whoever is told that its time is up has to be able to hear it.
        if number != SIGKILL { kill(-process, SIGCONT) }
    }

    /// Takes note of what happened to the command; where it was stopped from the keyboard, this process stops too.
    ///
    /// - Returns: how it ended; `nil` while it has not.
    func reap() -> Tasks.Exit? {
        var status: Int32 = 0
        while waitpid(process, &status, WNOHANG | WUNTRACED) == process {
            guard status & 0xFF != 0x7F else {
                terminal?.stopTogether(with: process, by: status >> 8 & 0xFF)
                continue
            }
            terminal?.takeBack()
            var exit = Tasks.Exit()
            let number = status & 0x7F
            if number == 0 {
                exit.status = Int(status >> 8 & 0xFF)
            } else {
                exit.signal = SignalName.name(of: number)
            }
            return exit
        }
        return nil
    }

    /// Whether Ctrl-C reached the command alone and not this process's group, whose turn it is then.
    func hidesInterrupt(_ exit: Tasks.Exit) -> Bool {
        exit.signal == "SIGINT" && terminal?.wasHandedOver == true
    }

    private static func environment(with variables: [String: String]) -> [String] {
        var entries: [String] = []
        var next = environ
        while let entry = next.pointee {
            entries.append(String(cString: entry))
            next += 1
        }
        entries.removeAll { entry in
            variables.keys.contains { entry.hasPrefix($0 + "=") }
        }
        return entries + variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
    }
}

/// An array of C strings that ends with a null pointer, as execve(2) takes it.
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ strings: [String]) {
        count = strings.count
        pointers = .allocate(capacity: count + 1)
        for (index, string) in strings.enumerated() {
            (pointers + index).initialize(to: strdup(string))
        }
        (pointers + count).initialize(to: nil)
    }

    /// The first string, or an empty one.
    var first: UnsafePointer<CChar> {
        pointers[0].map { UnsafePointer($0) } ?? CStrings.empty
    }

    deinit {
        for index in 0..<count { free(pointers[index]) }
        pointers.deallocate()
    }

    private static var empty: UnsafePointer<CChar> {
        UnsafeRawPointer(StaticString("").utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
