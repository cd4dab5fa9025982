internal import Glibc

/// What a program says before it ends.
package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// What a call of the system has failed with.
    package static var ofSystem: Failure { Failure(String(cString: strerror(errno))) }
}

/// Writes a line, at once.
package func say(_ line: String) { write(line, to: STDOUT_FILENO) }

/// Milliseconds on a clock that goes on while the machine sleeps, and that nobody can set.
package func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}

/// Runs a program with its arguments, and ends with one line where that fails.
///
/// - Parameter usage: the program and its arguments, those that may be left out in brackets.
package func run(_ usage: String, _ program: (Arguments) throws -> Void) {
    let words = usage.split(separator: " ")
    let required = words.prefix { !$0.hasPrefix("[") }
    let given = Array(CommandLine.arguments.dropFirst())
    guard (required.count..<words.count + 1).contains(given.count + 1) else {
        leave("usage: \(usage)")
    }
    do {
        try program(Arguments(given: given))
    } catch {
        leave("\(words[0]): \(error)")
    }
}

/// The arguments of a program.
package struct Arguments {
    fileprivate let given: [String]

    package subscript(index: Int) -> String { given[index] }

    /// A number, which may be left out.
    package func number(_ index: Int, or usual: Int) throws -> Int {
        guard index < given.count else { return usual }
        guard let number = Int(given[index]), number > 0 else {
            throw Failure("\(given[index]) is no number over 0")
        }
        return number
    }
}

private func leave(_ line: String) -> Never {
    write(line, to: STDERR_FILENO)
    exit(1)
}

private func write(_ line: String, to descriptor: Int32) {
    let bytes = Array((line + "\n").utf8)
    _ = Glibc.write(descriptor, bytes, bytes.count)
}
