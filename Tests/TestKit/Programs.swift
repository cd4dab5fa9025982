internal import Glibc

/// The programs that the tests start.
package enum Programs {
    /// What is installed.
    private static let shipped: Set<String> = [
        "bgtaskd", "bgtaskctl", "bgtask-executor",
    ]

    /// The test program itself.
    package static let executable: String = {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
    }()

    /// The folder of the test program, where SwiftPM puts all others.
    package static let buildFolder =
        executable.lastIndex(of: "/").map { String(executable[..<$0]) } ?? "."

    /// The folder of the programs that are tested: BGTASK_PROGRAMS, as `make test` sets it, or else what was
    /// built beside the tests.
    package static let folder: String =
        getenv("BGTASK_PROGRAMS").map { String(cString: $0) } ?? buildFolder

    /// The path of a program of ours: of one that is installed in `folder`, and of one that only serves the tests
    /// beside them.
    package static func path(_ name: String) -> String {
        "\(shipped.contains(name) ? folder : buildFolder)/\(name)"
    }
}
