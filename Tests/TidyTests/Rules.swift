/// What the house style forbids, as far as a program can see it.
enum Rules {
    /// Files that may read the wall clock, each with its reason. Never for a deadline.
    static let wallClockReaders: [String: String] = [
        "Sources/DaemonShell/Persistence/WallClock.swift":
            "STATUS names the next expiry by the time of day, the history says when tasks ended, and accounts expire",
        "Sources/TaskControl/Rendering/WallClock.swift": "shows when tasks ended",
        "Sources/BackgroundTasksKit/BGTaskScheduler.swift":
            "iOS has requests say a date, which goes to the daemon as a time from now",
        "Sources/BackgroundTasksKit/UNNotification.swift": "iOS has messages say when they came",
    ]

    /// Files that may stop the program where it is wrong itself, each with what can be wrong. Never for what a peer
    /// says.
    static let preconditionOwners: [String: String] = [
        "Sources/Containers/SlotTable.swift": "a table of no slots",
        "Sources/Containers/SlotBuffer.swift": "a slot that is not there",
        "Sources/LinuxSystem/DescriptorPair.swift": "a descriptor that is taken twice",
        "Sources/LinuxSystem/Epoll.swift": "an event that is not there",
        "Sources/Systemd/EventLoop.swift": "an exit status that the kernel does not know",
        "Sources/Systemd/Journal/JournalWriter.swift": "a queue without room",
        "Sources/Varlink/Connection/OutputBuffer.swift": "bytes sent that were not there",
        "Sources/Varlink/Messages/Message.swift": "a message of ours that cannot be written",
        "Sources/Varlink/Messages/SharedMessage.swift": "a message of ours without its number",
        "Sources/TaskControl/Session/SignalInbox.swift": "two inboxes for the same signals",
        "Benchmarks/Sources/BenchmarkSockets/ByteBuffer.swift": "a buffer without room",
        "Benchmarks/Sources/microbenchmark/Stopwatch.swift": "a thread without a clock",
    ]

    /// Files that may have the kernel hold something of a process, by what they read of it (`clinux_reader.h`), each with whose it
    /// is. Never of a stranger's, in a process that serves others.
    static let processReaders: [String: String] = [
        "Sources/CLinux/processes.c": "of whomever the callers read",
        "Sources/CLinux/reader.c": "those who do nothing else",
        "Sources/CLinux/descendants.c": "of whatever is below the caller",
        "Sources/bgtask-executor/elsewhere.c": "a child of the executor that is not waited for",
        "Sources/bgtask-executor/orphans.c": "children that are over with all their threads",
        "Sources/bgtask-executor/supervisor.c": "each command has a supervisor of its own",
        "Sources/bgtask-executor/supervised.c": "where there are no groups",
        "Sources/LinuxSystem/ProcessHome.swift": "where there are no groups",
        "Sources/LinuxSystem/Executor/ExecutedCommand+Processes.swift":
            "where there are no groups",
        "Sources/LinuxSystem/Executor/ExecutorFolder.swift":
            "what an executor has left that was a child, before another starts",
        "Sources/LinuxSystem/Executor/ExecutorLink.swift": "a supervisor, which is ours",
        "Sources/LinuxSystem/OrphanReaper.swift": "what an executor has left that was a child",
        "Sources/LinuxSystem/ProcessHost.swift":
            "what is below an executor that is a child, at the end",
        "Sources/LinuxSystem/ProcessConfinement.swift": "the daemon itself, and its executor",
        "Sources/LinuxSystem/ProcessTable.swift": "of whomever the callers read",
        "Sources/LinuxSystem/ProcessView.swift": "the daemon itself",
    ]

    static let processReadCalls = [
        "clx_process_read(", "clx_processes_read(", "clx_look(", "clx_view(",
        "clx_process_signal(", "clx_process_signal_as(", "clx_descendants_kill(",
        "clx_descendants_stop(", "clx_descendants_signal(", "ProcessStat(of:",
        "ProcessTable()", "ProcessView(ofOurs:",
    ]

    static let processReads = Rule(
        name:
            "reads what the kernel holds a process's memory or mounts for; ask those who read (or add the file, with whose it is)",
        scope: .sources
    ) { file in
        guard processReaders[file.path] == nil, !file.path.hasSuffix(".h") else { return [] }
        return file.lines(with: processReadCalls)
    }

    static let all = [
        processReads, wallClock, sleeps, forcing, traps, preconditions, preconditionMessages,
        unexplainedUnsafety, leftovers, commentedOutCode, foundation, imports, namelessEntries,
        testable,
    ]

    static let wallClock = Rule(
        name: "reads the wall clock; no deadline depends on it (or add the file, with a reason)",
        scope: .sources
    ) { file in
        guard wallClockReaders[file.path] == nil else { return [] }
        return file.lines(with: [
            "Date(", "CLOCK_REALTIME", "CLOCK_REALTIME_COARSE", "gettimeofday(", "time(nil)",
            "time(NULL)", "Date.now", "UTCClock",
        ])
    }

    static let sleeps = Rule(
        name: "sleeps; wait for the event, with a bound",
        scope: .all
    ) { file in
        file.lines(with: ["sleep(", "usleep(", "nanosleep(", "clock_nanosleep("])
    }

    /// The benchmarks' tests are a package of their own, which nobody ships.
    static let testable = Rule(
        name: "looks at what is private to a module; say package there, and test what ships",
        scope: .all
    ) { file in
        file.path.hasPrefix("Benchmarks/") ? [] : file.lines(with: ["@testable"])
    }

    static let forcing = Rule(
        name:
            "traps on nil or an error; unwrap it, throw, or say why it cannot be with precondition",
        scope: .sources
    ) { file in
        guard file.isSwift else { return [] }
        let unwraps = file.offsets(of: "!").filter { offset in
            guard offset > 0, file.code[offset - 1] != SourceFile.newline else { return false }
            let before = file.code[offset - 1]
            let isPostfix = SourceFile.isNamePart(before) || ")]?}>".utf8.contains(before)
            let isComparison = file.code[(offset + 1)...].first == UInt8(ascii: "=")
            return isPostfix && !isComparison
        }
        return unwraps.map { file.line(at: $0) }
    }

    static let traps = Rule(
        name: "ends the process; throw an error, or make one switch of it that is exhaustive",
        scope: .sources
    ) { file in
        file.lines(with: ["fatalError(", "preconditionFailure("])
    }

    static let preconditions = Rule(
        name:
            "traps, which only a listed file may, on its own mistake (or add it, with what can be wrong)",
        scope: .sources
    ) { file in
        preconditionOwners[file.path] == nil ? file.lines(with: ["precondition("]) : []
    }

    static let preconditionMessages = Rule(
        name: "traps without a message",
        scope: .sources
    ) { file in
        // Its message is the second argument.
        let token = "precondition("
        return file.offsets(of: token).filter { offset in
            var depth = 1
            for byte in file.code[(offset + token.utf8.count)...] {
                switch byte {
                case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
                case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
                case UInt8(ascii: ",") where depth == 1: return false
                default: break
                }
                if depth == 0 { break }
            }
            return true
        }.map { file.line(at: $0) }
    }

    static let unexplainedUnsafety = Rule(
        name: "switches a check off; say why in a comment on the line before or beside it",
        scope: .all
    ) { file in
        let comments = file.commentLines
        return file.lines(with: ["@unchecked Sendable", "nonisolated(unsafe)"]).filter { line in
            let near = comments[max(0, line - 2)..<line]
            return !near.contains { $0.split(whereSeparator: \.isWhitespace).count > 3 }
        }
    }

    static let leftovers = Rule(
        name: "leaves work for later; do it, or write it down where work is planned",
        scope: .all
    ) { file in
        zip(1..., file.commentLines).filter { _, comment in
            comment.split { !$0.isLetter }.contains {
                ["TODO", "FIXME", "XXX", "HACK"].contains($0)
            }
        }.map(\.0)
    }

    static let commentedOutCode = Rule(
        name: "is code in a comment; git keeps what was",
        scope: .all
    ) { file in
        zip(1..., file.commentLines).filter { isCode(comment: $1) }.map(\.0)
    }

    /// Judges by the forms that no sentence has; doc comments may show code.
    private static func isCode(comment: String) -> Bool {
        let trimmed = comment.drop { $0.isWhitespace }
        guard trimmed.hasPrefix("//"), !trimmed.hasPrefix("///") else { return false }
        let text = trimmed.dropFirst(2).drop { $0.isWhitespace }
        let words = text.split(separator: " ")
        if text == "}" || text.hasSuffix(" {") || text.hasSuffix(";") { return true }
        switch words.first {
        case "let", "var": return words.count > 2 && (words[2] == "=" || words[1].hasSuffix(":"))
        case "func": return words.dropFirst().first?.contains("(") == true
        case "import", "return": return words.count == 2 && text.last != "."
        default: return words.dropFirst().first == "=" || (words.count == 1 && text.hasSuffix(")"))
        }
    }

    static let foundation = Rule(
        name:
            "imports Foundation, which stays out of the programs; the kit has names of it in its API",
        scope: .sources
    ) { file in
        guard file.module != "BackgroundTasksKit" else { return [] }
        return zip(1..., file.codeLines).filter {
            ImportTable.imported(by: $1) == "Foundation"
        }.map(\.0)
    }

    static let imports = Rule(
        name: "imports what its module may not; see ImportTable and docs/architecture.md",
        scope: .sources
    ) { file in
        guard let module = file.module else { return [1] }
        guard let allowed = ImportTable.allowed[module] else { return [1] }
        return zip(1..., file.codeLines).filter { _, line in
            ImportTable.imported(by: line).map { !allowed.contains($0) } ?? false
        }.map(\.0)
    }

    static let namelessEntries = Rule(
        name: "logs without a message id; say a DaemonMessage, with its text in the catalog",
        scope: .sources
    ) { file in
        guard file.module == "bgtaskd" || file.module == "DaemonShell" else { return [] }
        let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical", "log"]
        return file.lines(with: levels.map { "log.\($0)(" })
    }
}
