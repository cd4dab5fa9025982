import CExecutor
import Glibc

/// What a command is started with.
struct ExecutorWork {
    var arguments: [String]
    var handler: [String] = []
    var environment = ["PATH=/usr/bin:/bin"]
    var directory = "/"
    /// 0: without a bound.
    var processesMax: UInt32 = 0
    /// 0: the executor's own.
    var user: UInt32 = 0

    init(_ arguments: String...) { self.arguments = arguments }

    init(script: String) { arguments = ["sh", "-c", script] }

    var bytes: [UInt8] {
        var header = executor_work_header()
        header.magic = UInt32(EXECUTOR_WORK_MAGIC)
        header.argument_count = UInt32(arguments.count)
        header.handler_argument_count = UInt32(handler.count)
        header.environment_count = UInt32(environment.count)
        header.file_mode_mask = 0o22
        if user != 0 { header.flags = EXECUTOR_CHANGES_USER.rawValue }
        (header.user, header.group) = (user, user)
        header.processes_max = processesMax
        let strings = ["/usr/bin:/bin", directory, ""] + arguments + handler + environment
        return withUnsafeBytes(of: &header) { Array($0) } + strings.flatMap { Array($0.utf8) + [0] }
    }

    /// A sealed file of it.
    func file() -> Int32 { executor_sealed_file(bytes, bytes.count) }
}
