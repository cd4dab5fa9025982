/// Bytes that are written one after the other, with room kept behind them for the next.
///
/// An array would be asked for its room with each byte. This is asked once for each piece, which is then written
/// through a pointer.
@usableFromInline
struct WrittenBytes: Sendable {
    @usableFromInline
    var memory = ByteMemory.none
    /// How many bytes have been written.
    @usableFromInline
    private(set) var count = 0

    /// Memory from which on it grows by less than twice, so that most of what it takes is counted.
    private static let slowGrowthFrom = 16_384

    /// Gives the place of the next bytes, with room for at least so many; `wrote` tells how many they were.
    @inline(__always)
    mutating func room(for most: Int) -> UnsafeMutablePointer<UInt8> {
        if memory.size &- count < most || !isKnownUniquelyReferenced(&memory) { grow(by: most) }
        return memory.start + count
    }

    /// Counts bytes that have been written where `room` told.
    @inline(__always)
    mutating func wrote(_ more: Int) { count &+= more }

    /// Writes one byte.
    @inline(__always)
    mutating func append(_ byte: UInt8) {
        room(for: 1).pointee = byte
        wrote(1)
    }

    /// Writes many bytes.
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let base = bytes.baseAddress else { return }
        room(for: bytes.count).copy(base, bytes.count)
        wrote(bytes.count)
    }

    /// Gives `body` what has been written from an offset on.
    @inlinable
    func withBytes<R, E: Error>(
        from start: Int, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        defer { extendLifetime(memory) }
        return try body(UnsafeRawBufferPointer(start: memory.start + start, count: count &- start))
    }

    /// Drops bytes at the start.
    mutating func removeFirst(_ dropped: Int) {
        let old = memory
        defer { extendLifetime(old) }
        count &-= dropped
        memory = ByteMemory(size: count)
        memory.start.update(from: old.start + dropped, count: count)
    }

    /// Drops all bytes; the memory too, where it is more than is to be kept.
    mutating func removeAll(keepingAtMost most: Int) {
        count = 0
        if memory.size > most { memory = .none }
    }

    @inline(never)
    private mutating func grow(by more: Int) {
        let old = memory
        defer { extendLifetime(old) }
        let wanted = old.size < Self.slowGrowthFrom ? 2 &* old.size : old.size &+ old.size / 4
        memory = ByteMemory(size: Swift.max(count &+ more, wanted, 256))
        memory.start.update(from: old.start, count: count)
    }
}

/// Memory for bytes, which is given back with its last owner.
///
/// `@unchecked Sendable`: who writes makes sure before that no other has it.
@usableFromInline final class ByteMemory: @unchecked Sendable {
    @usableFromInline
    let start: UnsafeMutablePointer<UInt8>
    @usableFromInline
    let size: Int

    /// What those have who have written nothing.
    @usableFromInline
    static let none = ByteMemory(size: 0)

    init(size: Int) {
        self.size = size
        start = .allocate(capacity: size)
    }

    deinit {
        start.deallocate()
    }
}

extension UnsafeMutablePointer<UInt8> {
    /// Copies bytes from elsewhere; a few of them without calling memcpy, which costs more than they do.
    @inline(__always)
    func copy(_ source: UnsafePointer<UInt8>, _ count: Int) {
        switch count {
        case 33...: update(from: source, count: count)
        case 17...: copyEnds(source, count, as: SIMD16<UInt8>.self)
        case 8...: copyEnds(source, count, as: UInt64.self)
        case 4...: copyEnds(source, count, as: UInt32.self)
        case 2...: copyEnds(source, count, as: UInt16.self)
        case 1: pointee = source.pointee
        default: break
        }
    }

    /// Copies as much as `Piece` has at the start and at the end, which may overlap.
    @inline(__always)
    private func copyEnds<Piece: BitwiseCopyable>(
        _ source: UnsafePointer<UInt8>, _ count: Int, as _: Piece.Type
    ) {
        let (from, to) = (UnsafeRawPointer(source), UnsafeMutableRawPointer(self))
        let last = count &- MemoryLayout<Piece>.size
        let piece = from.loadUnaligned(as: Piece.self)
        let end = from.loadUnaligned(fromByteOffset: last, as: Piece.self)
        to.storeBytes(of: piece, as: Piece.self)
        to.storeBytes(of: end, toByteOffset: last, as: Piece.self)
    }
}
