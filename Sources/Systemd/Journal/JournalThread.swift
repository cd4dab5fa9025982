internal import CSystemd
internal import Glibc

/// The thread behind a ``JournalWriter``.
final class JournalThread: Sendable {
    private let queue: Monitor<JournalQueue>
    private let sink: JournalSink

    /// Room for sd_journal_sendv(3), which keeps its vectors on the stack.
    private static let stackBytes = 256 << 10
    /// For so long after a batch nobody has to wake it: what comes meanwhile is the next one. Milliseconds.
    private static let gatheringTime: Int32 = 2

    init(queue: Monitor<JournalQueue>, sink: JournalSink) {
        self.queue = queue
        self.sink = sink
    }

    /// Starts it, detached and with all signals blocked, SIGPIPE included, but SIGPROF, by which the Swift runtime
    /// stops the threads of a program that crashes.
    ///
    /// - Throws: ``SystemdError`` as of pthread_create(3): EAGAIN at a limit.
    func start() throws(SystemdError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, Self.stackBytes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))

        // The mask is inherited: block before the start, so that no signal slips in.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        sigdelset(&all, SIGPROF)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let retained = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let result = pthread_create(
            &thread,
            &attributes,
            { argument in
                guard let argument else { return nil }
                pthread_setname_np(pthread_self(), "journal")
                Unmanaged<JournalThread>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            retained.toOpaque()
        )
        if result != 0 {
            retained.release()
            throw SystemdError(operation: "pthread_create", errno: result, subject: "journal")
        }
    }

    private func run() {
        while true {
            switch queue.when(\.hasWork, { $0.takeWork() }) {
            case .write(let entries):
                for entry in entries {
                    let isWritten = write(entry)
                    queue.withState { $0.finish(entry, isWritten: isWritten) }
                }
                poll(nil, 0, Self.gatheringTime)
            case .report(let loss):
                let isWritten = write(Self.report(of: loss))
                queue.withState { $0.finishReport(isWritten: isWritten) }
            case .end:
                return
            }
        }
    }

    /// - Returns: whether the sink took it.
    private func write(_ entry: JournalEntry) -> Bool {
        do {
            try sink.write(entry)
            return true
        } catch {
            return false
        }
    }

    private static func report(of loss: JournalLoss) -> JournalEntry {
        JournalEntry(
            level: .warning,
            message: "journal entries were lost: no room, or refused by the journal",
            messageID: JournalMessageID.entriesLost,
            fields: [
                (.lostAudit, .integer(Int64(loss.audit))),
                (.lostOutput, .integer(Int64(loss.output))),
            ]
        )
    }
}

extension JournalMessageID {
    /// Entries of ours found no room, or the journal refused them.
    package static let entriesLost: JournalMessageID = "a9c4ea8d6f0b4f4c9d0f6c2e51b7d384"
}
