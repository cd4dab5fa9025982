internal import Glibc

/// Looks for the program of a command as the daemon will, to say at once where it is not there.
enum ProgramSearch {
    /// What is to be said of a command whose program is not there; `nil` where it is, or where that cannot be seen.
    ///
    /// - Parameter path: the command's `PATH`; `nil`: what the daemon gives it.
    static func complaint(about program: String, in directory: String, path: String?) -> String? {
        guard !program.contains("/") else {
            let file = program.hasPrefix("/") ? program : directory + "/" + program
            return isMissing(file) ? "there is no file \(VisibleText.oneLine(file))" : nil
        }
        let path = path ?? (geteuid() == 0 ? rootPath : userPath)
        let folders = path.split(separator: ":", omittingEmptySubsequences: true)
        guard folders.allSatisfy({ isMissing($0 + "/" + program) }) else { return nil }
        let shell = program.contains(" ") ? " (a line for a shell: sh -c '...')" : ""
        return "there is no program \(VisibleText.oneLine(program)) in \(path)\(shell)"
    }

    private static func isMissing(_ file: String) -> Bool {
        access(file, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// As bgtaskd(8) has them for commands of root and of others.
    private static let rootPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    private static let userPath = "/usr/local/bin:/usr/bin:/bin"
}
