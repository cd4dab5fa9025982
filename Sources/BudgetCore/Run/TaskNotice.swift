/// What a run task says to its keeper in one message, in the words of sd_notify(3).
///
/// The daemon knows of a task's begin and end by itself, so that READY, STOPPING, MAINPID, WATCHDOG,
/// ERRNO, BARRIER and all that is not named here say nothing to it, and are no mistake.
package struct TaskNotice: Equatable, Sendable {
    /// STATUS: what it is doing; empty where it takes that back, `nil` where it says nothing of it.
    package var status: String?
    /// EXTEND_TIMEOUT_USEC: how long from now on it wants to last at least.
    package var atLeast: Duration?

    /// Of STATUS, in UTF-8; what is longer is cut.
    package static let statusBytesMax = 1024
    /// Lines of a message that are read; empty ones are none.
    package static let linesMax = 64

    package init(status: String? = nil, atLeast: Duration? = nil) {
        self.status = status
        self.atLeast = atLeast
    }

    /// Reads a message: assignments, one a line. The first of a kind counts, as with systemd.
    ///
    /// Whoever writes a message has the daemon read it: what it takes is bounded, whatever is in it.
    ///
    /// Bytes that are no UTF-8 are shown as such (U+FFFD), like those of a task's output. Control characters
    /// stay as they are: what shows the text makes them visible. A number that is none, or is too large for
    /// 64 bits, is no request.
    package init(parsing bytes: [UInt8]) {
        var rest = bytes[...]
        var linesLeft = TaskNotice.linesMax
        while status == nil || atLeast == nil, linesLeft > 0,
            let line = TaskNotice.takeLine(of: &rest)
        {
            linesLeft -= 1
            if status == nil, let text = TaskNotice.value(of: "STATUS=", in: line) {
                status = String(decoding: TaskNotice.deciding(text), as: UTF8.self)
                    .cut(toBytes: TaskNotice.statusBytesMax)
            } else if atLeast == nil,
                let number = TaskNotice.value(of: "EXTEND_TIMEOUT_USEC=", in: line)
            {
                atLeast = TaskNotice.number(number).map { .microseconds(Int64(clamping: $0)) }
            }
        }
    }

    /// The beginning of a status that decides what is kept of it.
    ///
    /// What is shown of bytes is never shorter than they, so that this fills the room and leaves out the
    /// character at its end, which may be broken there.
    package static func deciding(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        text.prefix(statusBytesMax + 4)
    }

    package var isEmpty: Bool { status == nil && atLeast == nil }

    /// Adds what was said after it: the newest status counts, and the longest time.
    package mutating func add(_ newer: TaskNotice) {
        status = newer.status ?? status
        if let more = newer.atLeast { atLeast = max(atLeast ?? more, more) }
    }

    /// Takes the next line that is not empty.
    private static func takeLine(of rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let start = rest.firstIndex(where: { !isLineEnd($0) }) else { return nil }
        let line = rest[start...].prefix { !isLineEnd($0) }
        rest = rest[line.endIndex...]
        return line
    }

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }

    private static func value(
        of name: StaticString, in line: ArraySlice<UInt8>
    ) -> ArraySlice<UInt8>? {
        name.withUTF8Buffer { line.starts(with: $0) ? line.dropFirst($0.count) : nil }
    }

    /// A decimal number without a sign; `nil` for anything else.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard !digits.isEmpty else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carried) = product.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
            guard !overflow, !carried else { return nil }
            number = sum
        }
        return number
    }
}
