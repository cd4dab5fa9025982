internal import CLinux
internal import Glibc

/// What is read of a process of a stranger.
struct ProcessLook {
    let processID: Int32
    let parent: Int32
    /// Clock ticks since boot.
    let startTime: Int64
    /// As ``user(ofProcess:)``.
    let user: UInt32?
    let process: clx_process

    init(_ looked: clx_looked) {
        process = looked.process
        processID = looked.process.pid
        parent = looked.process.parent
        startTime = Int64(clamping: looked.process.start_time)
        user = looked.user == .max ? nil : looked.user
    }
}

extension clx_question {
    static func looks(at processes: some Collection<Int32>) -> clx_question {
        var question = clx_question()
        question.kind = CLX_ASKS_LOOK
        withUnsafeMutableBytes(of: &question.pids) { bytes in
            let numbers = bytes.bindMemory(to: pid_t.self)
            for process in processes.prefix(numbers.count) {
                numbers[Int(question.count)] = process
                question.count += 1
            }
        }
        return question
    }
}

extension clx_answer {
    /// Those that are there.
    var looks: [ProcessLook] {
        let count = Int(self.count)
        return withUnsafeBytes(of: all) { bytes in
            bytes.bindMemory(to: clx_looked.self).prefix(count)
                .filter { $0.process.pid != 0 }.map(ProcessLook.init)
        }
    }
}
