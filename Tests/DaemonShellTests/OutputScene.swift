import BudgetCore
import DaemonShell
import Glibc
import LinuxSystem
import Logging
import Systemd
import Testing

/// What reads output, without a daemon, and commands whose pipes the test writes to.
final class OutputScene {
    let scene: Scene
    let pump: OutputPump
    let journal: AuditTrail
    /// What is logged, where it is kept.
    let entries: Entries?

    init(logsTo entries: Entries? = nil) throws {
        self.entries = entries
        scene = try Scene()
        let writer = try JournalWriter(
            to: .text(descriptor: STDERR_FILENO, levelPrefix: false), identifier: "test",
            level: .emergency)
        journal = AuditTrail(writer, scene.settings.limits)
        pump = OutputPump(
            scene.core, scene.poll, scene.closers, scene.settings, scene.accounts,
            scene.subscriptions, journal,
            entries.map { entries in Logger(label: "test") { _ in entries } } ?? scene.log)
    }

    /// A task's command that runs.
    func command(_ id: UInt64, _ share: OwnerOutput? = nil) throws -> Command {
        let id = TaskID(rawValue: id)
        let opened = pump.open(.task(id), of: OwnerID(rawValue: 1000))
        let output =
            share.map { RunnerOutput(.task(id), of: OwnerID(rawValue: 1000), $0) } ?? opened
        let streams = try [OutputStream.stdout, .stderr].map { stream in
            var ends: [Int32] = [-1, -1]
            try #require(pipe(&ends) == 0)
            for end in ends { #expect(fcntl(end, F_SETFL, O_NONBLOCK) == 0) }
            try pump.add(OwnedDescriptor(ends[0]), stream, to: output)
            return Command.Stream(descriptor: ends[1])
        }
        pump.startReading(output)
        return Command(id: id, output: output, streams)
    }

    /// Goes on to a second, and reads until there is nothing more to read.
    ///
    /// - Parameter before: done before each look at the pipes.
    func read(at second: Int64, before: () throws -> Void = {}) throws {
        scene.clock.seconds = second
        scene.core.advance()
        pump.resumeThrottled()
        try before()
        while try scene.poll.poll() {
            pump.readReady()
            try before()
        }
    }

    /// All that is kept of a task's output, piece by piece.
    func pieces(of id: TaskID) -> [String] { pump[id].map { Self.pieces(of: $0) } ?? [] }

    /// The same of a log.
    static func pieces(of log: OutputLog) -> [String] {
        var pieces: [String] = []
        var position = 0
        while let piece = log.piece(at: position) {
            let text = String(decoding: piece.bytes, as: UTF8.self)
            pieces.append("\(piece.stream): \(text)")
            position = piece.next
        }
        return pieces
    }

    /// A command, seen from its own side.
    final class Command {
        struct Stream {
            let descriptor: Int32
            var written = 0
        }

        let id: TaskID
        let output: RunnerOutput
        private var streams: [Stream]

        init(id: TaskID, output: RunnerOutput, _ streams: [Stream]) {
            self.id = id
            self.output = output
            self.streams = streams
        }

        deinit { end() }

        func print(_ text: String, on stream: OutputStream = .stdout) {
            let bytes = Array(text.utf8)
            let count = write(streams[stream == .stdout ? 0 : 1].descriptor, bytes, bytes.count)
            #expect(count == bytes.count)
            streams[stream == .stdout ? 0 : 1].written += max(count, 0)
        }

        /// Prints lines until no more fit into its pipe.
        func flood() {
            let line = String(repeating: "x", count: 63) + "\n"
            let lines = Array(String(repeating: line, count: 64).utf8)
            while true {
                let count = write(streams[0].descriptor, lines, lines.count)
                guard count > 0 else { return }
                streams[0].written += count
            }
        }

        /// How many bytes of it have been read.
        var readCount: Int {
            streams.reduce(0) { sum, stream in
                var waiting: Int32 = 0
                #expect(ioctl(stream.descriptor, UInt(FIONREAD), &waiting) == 0)
                return sum + stream.written - Int(waiting)
            }
        }

        /// Closes its pipes.
        func end() {
            for stream in streams { close(stream.descriptor) }
            streams = []
        }
    }
}
