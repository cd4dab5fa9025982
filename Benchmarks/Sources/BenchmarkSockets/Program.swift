internal import Glibc

/// What both programs do alike.
public enum Program {
    /// Runs the program; an error is a line on standard error and a status of 1.
    public static func run(_ name: String, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            let line = Array("\(name): \(error)\n".utf8)
            write(STDERR_FILENO, line, line.count)
            exit(1)
        }
    }
}
