import Glibc
import Systemd

/// A service with nothing but the parts of Systemd.
///
/// Answers one line a connection: `ping`, `log ID COUNT TEXT`, `turn` (how many requests came).
final class ProbeService {
    private let loop: EventLoop
    private let notifier = ServiceNotifier()
    private let journal: JournalWriter
    private var requests = 0

    init() throws {
        loop = try EventLoop()
        try loop.addSignal(SIGTERM) { [loop] _ in loop.exit(0) }
        journal = try JournalWriter(to: .standard(), identifier: "systemd-probe")
    }

    func run() throws -> Int32 {
        let sockets = try ListenDescriptor.take()
        for socket in sockets {
            try loop.addDescriptor(socket.descriptor, events: .readable, priority: .clients) {
                [unowned self] _ in self.accept(on: socket)
            }
        }
        let hasWatchdog = try loop.enableWatchdog { [notifier] in try notifier.watchdog() }
        journal.write(
            JournalEntry(
                level: .notice,
                message: "probe started",
                messageID: "0123456789abcdef0123456789abcdef",
                fields: [(.taskID, 42), (.taskName, .string("two\nlines")), (.owner, 0)]
            )
        )
        let names = sockets.map(\.name).joined(separator: " ")
        try notifier.ready(status: "sockets: \(names); watchdog: \(hasWatchdog)")
        let code = try loop.run()
        try notifier.stopping()
        let loss = journal.close(within: .seconds(2))
        return loss.total == 0 ? code : 3
    }

    private func accept(on socket: ListenDescriptor) {
        let client = Glibc.accept(socket.descriptor, nil, nil)
        guard client >= 0 else { return }
        defer { close(client) }
        requests += 1
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = read(client, &bytes, bytes.count)
        let line = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let answer = Array("\(socket.name): \(answer(to: line))\n".utf8)
        _ = answer.withUnsafeBytes { write(client, $0.baseAddress, $0.count) }
    }

    private func answer(to line: String) -> String {
        let words = line.split(whereSeparator: \.isWhitespace)
        guard words.count == 4, words[0] == "log", let id = Int64(words[1]),
            let count = Int(words[2])
        else { return "request \(requests)" }
        var lost = 0
        for _ in 0..<count {
            let entry = JournalEntry(
                .output,
                level: .info,
                message: .string(String(words[3])),
                fields: [(.taskID, .integer(id))]
            )
            lost += journal.write(entry) ? 0 : 1
        }
        return "lost \(lost) of \(count)"
    }
}
