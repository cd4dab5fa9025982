internal import Glibc

/// A command that is to run as a child of this process.
struct ChildCommand {
    /// The program, which is searched for in `PATH`, and its arguments.
    let words: [String]
    /// Added to this process's environment.
    var variables: [String: String] = [:]
    /// Signals that this process ignores and the command is not to.
    var defaults: [Int32] = []
    /// Whether it gets a process group of its own.
    var hasOwnGroup = false
    /// What becomes its standard input; that of this process where `nil`.
    var input: Int32?

    /// Starts it.
    ///
    /// - Returns: its process, which the caller waits for.
    func start() throws(Failure) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var set = sigset_t()
        sigemptyset(&set)
        for number in defaults { sigaddset(&set, number) }
        posix_spawnattr_setsigdefault(&attributes, &set)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGDEF | (hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0)
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var files = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&files)
        defer { posix_spawn_file_actions_destroy(&files) }
        if let input { posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO) }
        var process: pid_t = 0
        let arguments = CStrings(words)
        let environment = CStrings(environment)
        let code = posix_spawnp(
            &process, arguments.first, &files, &attributes, arguments.pointers,
            environment.pointers)
        guard code == 0 else {
            let name = words.first ?? ""
            throw Failure("cannot run \(name): \(ErrorText.of(code))", status: ExitStatus.ours)
        }
        return process
    }

    private var environment: [String] {
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
