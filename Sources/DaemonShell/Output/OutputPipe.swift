package import BudgetCore
internal import Glibc
package import LinuxSystem
internal import Systemd

/// The reading end of one stream of the commands of a task or an application: a pipe, or where it is another user's than this
/// process's a socket, so that nothing is read, asked or closed here that a stranger can hold up.
package final class OutputPipe: DescriptorHandler {
    /// Bytes read in one turn, so that a flood of one task leaves room for the rest.
    package static let readMax = 65_536
    /// A task that prints more than this is slowed down by its own pipe.
    package static let bytesPerSecondMax = 4 << 20
    /// Lines in the log a second; what is more is counted.
    static let linesPerSecondMax = 1000

    let number: UInt64
    /// What it is one of.
    unowned let output: RunnerOutput
    let stream: OutputStream
    /// What it shares with the others of its owner.
    private let owner: OwnerOutput
    private let source: OutputSource
    private var registration: DescriptorPoll.Registration?
    private var ready: (OutputPipe) -> Void = { _ in }
    /// Whether nobody can write to it, when it was last looked at.
    private var isHungUp = false
    /// Which of all reads the last one of it was, so that those take turns that share a rate.
    var lastRead: UInt64 = 0
    private var cutter = LineCutter()
    private var rate = Rate(perSecondMax: OutputPipe.bytesPerSecondMax)
    private var lines = Rate(perSecondMax: OutputPipe.linesPerSecondMax)
    /// Lines that the log was spared since the last that it got.
    private var linesNotLogged = 0
    /// The level that the parts of a long line still to come have from its first.
    private var levelOfRest: JournalLevel?
    private var isWithinLine = false

    init(
        number: UInt64, of output: RunnerOutput, stream: OutputStream,
        _ source: OutputSource
    ) {
        self.number = number
        self.output = output
        owner = output.share
        self.stream = stream
        self.source = source
    }

    // MARK: - When it is read

    package func ready(_ readiness: Readiness) {
        // Told again and again, also while it is left alone.
        isHungUp = !readiness.isDisjoint(with: [.hangUp, .error])
        ready(self)
    }

    /// Has it read from now on, whenever there is something.
    func follow(in poll: DescriptorPoll, ready: @escaping (OutputPipe) -> Void) throws(SystemError)
    {
        self.ready = ready
        registration = try poll.add(source.descriptor, .input, self)
    }

    /// Whether it is read when there is something; one that is closed is not.
    var isFollowed: Bool { registration != nil }

    /// Leaves it alone for a time, or no longer.
    func setRests(_ rests: Bool, in poll: DescriptorPoll) throws(SystemError) {
        if let registration { try poll.modify(registration, rests ? [] : .input) }
    }

    func unfollow(in poll: DescriptorPoll) {
        if let registration { poll.remove(registration) }
        registration = nil
    }

    /// How much of it may be read now, as far as it is flooded; 0 where it is to be left alone.
    func allowedCount(_ now: Instant) -> Int {
        // Nobody writes to it any more: what it holds is all that there is.
        if isHungUp { return OutputPipe.readMax }
        return min(OutputPipe.readMax, rate.left(now), owner.bytes.left(now))
    }

    /// Until when it is to be left alone, because it is flooded.
    func throttledUntil(_ now: Instant) -> Instant? {
        let own = rate.restUntil(now)
        guard let shared = owner.bytes.restUntil(now) else { return own }
        return max(own ?? shared, shared)
    }

    // MARK: - What is read

    /// What a read found.
    enum ReadResult {
        /// So many bytes; and of what was read until now the lines that have an end.
        case bytes(Int, complete: [UInt8])
        case nothing
        case end
        /// It cannot be read any more.
        case failed(reason: String)
    }

    /// Reads of what is there, up to so many bytes, without waiting. There may be more, also where these are fewer.
    func read(
        into buffer: UnsafeMutableRawBufferPointer, atMost countMax: Int = OutputPipe.readMax
    ) -> ReadResult {
        let room = UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(countMax))
        switch source.receive(into: room) {
        case .bytes(let count):
            let complete = cutter.take(UnsafeRawBufferPointer(rebasing: room[..<count]))
            rate.add(count)
            owner.bytes.add(count)
            return .bytes(count, complete: complete)
        case .nothing: return .nothing
        case .end: return .end
        case .failed(let errno): return .failed(reason: errorText(errno))
        case .descriptor: return .failed(reason: "a file descriptor came along")
        case .pollers: return .failed(reason: "too many poll what it is written to")
        }
    }

    /// Bytes that wait in it now.
    var waitingCount: Int { source.waitingCount }

    /// What was read of a line that has no end yet.
    func takeRest() -> [UInt8] { cutter.takeRest() }

    /// Takes the next line, or part of one, off what was read.
    func takeLine(from bytes: inout ArraySlice<UInt8>) -> OutputLine {
        let printed = bytes.prefix { $0 != UInt8(ascii: "\n") }
        bytes = bytes.dropFirst(printed.count)
        var line = OutputLine(level: levelOfRest, text: printed)
        if !isWithinLine { (line.level, line.text) = LevelPrefix.split(printed) }
        isWithinLine = bytes.isEmpty
        levelOfRest = isWithinLine ? line.level : nil
        bytes = bytes.dropFirst()
        return line
    }

    /// Whether one more line may go to the log, which is counted then.
    func mayLogLine(_ now: Instant) -> Bool {
        guard lines.restUntil(now) == nil, owner.lines.restUntil(now) == nil else { return false }
        lines.add(1)
        owner.lines.add(1)
        return true
    }

    /// Counts a line that the log is spared.
    func lineNotLogged() { linesNotLogged += 1 }

    /// How many lines the log was spared, once.
    func takeLinesNotLogged() -> Int {
        defer { linesNotLogged = 0 }
        return linesNotLogged
    }
}

/// A line for the log.
struct OutputLine {
    /// What its prefix says; `nil` where the stream decides.
    var level: JournalLevel?
    /// Without prefix and newline.
    var text: ArraySlice<UInt8>

    /// The more urgent of its own level and that of its stream.
    func passingLevel(on stream: OutputStream) -> JournalLevel {
        min(level ?? stream.level, stream.level)
    }
}

extension OutputStream {
    /// The level of lines that bring none.
    var level: JournalLevel {
        switch self {
        case .stdout: .info
        case .stderr: .notice
        }
    }
}

/// A count that starts anew each second.
package struct Rate {
    let perSecondMax: Int
    private var windowEndsAt = Instant(nanoseconds: .min)
    private var count = 0

    package init(perSecondMax: Int) {
        self.perSecondMax = perSecondMax
    }

    package mutating func add(_ amount: Int) {
        count += amount
    }

    /// How much may be added until the count is at its limit.
    package mutating func left(_ now: Instant) -> Int {
        startAnewIfDue(now)
        return max(perSecondMax - count, 0)
    }

    /// When the count starts anew, where it has reached its limit.
    package mutating func restUntil(_ now: Instant) -> Instant? {
        startAnewIfDue(now)
        return count >= perSecondMax ? windowEndsAt : nil
    }

    /// What was more than the limit counts in the next second too, up to half of what that may have: what is taken
    /// without asking never leaves nothing for the rest.
    private mutating func startAnewIfDue(_ now: Instant) {
        guard now >= windowEndsAt else { return }
        windowEndsAt = now + .seconds(1)
        count = min(max(count - perSecondMax, 0), perSecondMax / 2)
    }
}
