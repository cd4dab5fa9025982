internal import Glibc

/// Splits a stream into frames, each ended by NUL (varlink.org, Protocol).
@usableFromInline
struct FrameBuffer: Sendable {
    /// Frames that have been taken, then frames that have not, then a part of one.
    @usableFromInline
    private(set) var bytes: [UInt8] = []
    /// Where the first frame starts that has not been taken.
    @usableFromInline
    private(set) var head = 0
    /// How much of a frame there is at the end whose NUL has not come.
    private var partial = 0
    /// The length of the first frame that has not been taken, where that is known.
    private var firstLength: Int?
    /// Complete frames that have not been taken.
    @usableFromInline
    private(set) var waiting = 0

    /// Bytes that have not been taken.
    @inlinable
    var count: Int { bytes.count &- head }

    /// Takes what came; a frame that is too long is noticed before it is kept.
    mutating func receive(
        _ new: UnsafeRawBufferPointer,
        frameBytesMax: Int
    ) throws(ProtocolViolation) {
        guard let base = new.baseAddress, new.count > 0 else { return }
        var from = 0
        while from < new.count {
            let rest = new.count &- from
            let end = memchr(base + from, 0, rest).map { UnsafeRawPointer($0) - (base + from) }
            partial &+= end ?? rest
            guard partial <= frameBytesMax else { throw .frameTooLong(max: frameBytesMax) }
            guard let end else { break }
            if waiting == 0 { firstLength = partial }
            waiting &+= 1
            partial = 0
            from &+= end &+ 1
        }
        append(new.bindMemory(to: UInt8.self))
    }

    private mutating func append(_ new: UnsafeBufferPointer<UInt8>) {
        if count == 0, new.count <= bytes.capacity, bytes.capacity <= ConnectionLimits.storageKept {
            // The usual case, in one step.
            bytes.replaceSubrange(0..<bytes.count, with: new)
            head = 0
        } else {
            makeRoom()
            bytes.reserve(for: new.count)
            bytes.append(contentsOf: new)
        }
    }

    /// Takes the next complete frame.
    ///
    /// - Returns: where it is in `bytes`, without its NUL.
    mutating func next() -> Range<Int>? {
        guard waiting > 0 else { return nil }
        let start = head
        let end = firstLength.map { start &+ $0 } ?? endOfFrame(from: start)
        firstLength = nil
        head = min(end &+ 1, bytes.count)
        waiting &-= 1
        return start..<end
    }

    private func endOfFrame(from start: Int) -> Int {
        bytes.withUnsafeBytes { whole in
            guard let base = whole.baseAddress,
                let found = memchr(base + start, 0, whole.count &- start)
            else { return whole.count }
            return UnsafeRawPointer(found) - base
        }
    }

    /// Gives memory back that a burst has left.
    mutating func trim() {
        guard bytes.capacity > ConnectionLimits.storageKept, count < bytes.capacity / 4 else {
            return
        }
        bytes = Array(bytes[head...])
        head = 0
    }

    /// Drops what has been taken once that is most of the buffer, so that each byte moves a bounded
    /// number of times, however the stream is cut.
    private mutating func makeRoom() {
        if count == 0 {
            bytes.removeAll(keepingCapacity: bytes.capacity <= ConnectionLimits.storageKept)
            head = 0
        } else if head >= count {
            bytes.removeSubrange(..<head)
            head = 0
        }
    }
}

extension [UInt8] {
    /// Bytes from which on a buffer grows by less than twice.
    private static var slowGrowthFrom: Int { 16_384 }

    /// Makes room for more; a large buffer grows by a quarter, where the library would double it, so that
    /// what is counted of it is most of what it takes.
    mutating func reserve(for more: Int) {
        let needed = count &+ more
        guard needed > capacity, needed > Self.slowGrowthFrom else { return }
        reserveCapacity(Swift.max(needed, capacity &+ capacity / 4))
    }
}
