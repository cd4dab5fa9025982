import Glibc

/// A program that a test runs; killed and reaped with the value that stands for it.
final class Child {
    let processID: pid_t
    private var ending: Ending?

    /// How a program ended.
    enum Ending: Equatable {
        case status(Int32)
        case signal(Int32)
    }

    /// The program could not be started.
    struct CannotStart: Error {
        let program: String
        let errno: Int32
    }

    /// Starts a program with this environment alone.
    ///
    /// - Parameters:
    ///   - output: the file that standard output is appended to.
    ///   - error: the file that standard error is appended to.
    init(
        _ program: String, _ arguments: [String], environment: [String] = ["PATH=/usr/bin:/bin"],
        output: String = "/dev/null", error: String = "/dev/null"
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, error, flags, 0o600)
        var argumentPointers = ([program] + arguments).map { strdup($0) } + [nil]
        var environmentPointers = environment.map { strdup($0) } + [nil]
        defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
        var processID: pid_t = 0
        let result = posix_spawn(
            &processID, program, &actions, nil, &argumentPointers, &environmentPointers)
        guard result == 0 else { throw CannotStart(program: program, errno: result) }
        self.processID = processID
    }

    deinit {
        guard ending == nil else { return }
        kill(processID, SIGKILL)
        waitpid(processID, nil, 0)
    }

    func signal(_ number: Int32) {
        if ending == nil { kill(processID, number) }
    }

    var isRunning: Bool { endingIfEnded() == nil }

    /// Reaps the program if it has ended.
    func endingIfEnded() -> Ending? {
        if let ending { return ending }
        var status: Int32 = 0
        guard waitpid(processID, &status, WNOHANG) == processID else { return nil }
        ending = status & 0x7F == 0 ? .status((status >> 8) & 0xFF) : .signal(status & 0x7F)
        return ending
    }

    /// Waits for the end of the program.
    func waitForEnd() throws -> Ending {
        try eventually("process \(processID) ends") { endingIfEnded() != nil }
        return endingIfEnded() ?? .status(-1)
    }
}

/// What was waited for has not come about in time.
struct NeverHappened: Error, CustomStringConvertible {
    let description: String
}

/// Looks again and again until something is so, five minutes at most.
///
/// - Parameter what: says what, and what is so instead; asked for at the end of that time.
func eventually(
    _ what: @autoclosure () throws -> String, seconds: Int = 300, _ isSo: () throws -> Bool
) throws {
    let bound = ContinuousClock.now.advanced(by: .seconds(seconds))
    // What takes long is looked at more rarely: a look may read all of /proc.
    var pause: Int32 = 2
    while try !isSo() {
        guard ContinuousClock.now < bound else {
            throw NeverHappened(description: "never came about: \(try what())")
        }
        poll(nil, 0, pause)
        pause = min(pause + 1, 20)
    }
}
