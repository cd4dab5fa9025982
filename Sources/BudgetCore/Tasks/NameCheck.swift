extension String {
    /// Refuses a name that is empty or too long, or that would steer what shows it.
    func checkName(_ parameter: String, bytesMax: Int) throws(Refusal) {
        guard utf8.count <= bytesMax else {
            throw .limitReached(limit: "nameBytesMax", value: bytesMax)
        }
        guard !isEmpty, !hasControlOrBidi else {
            throw .invalidParameter(parameter)
        }
    }
}

extension String {
    fileprivate var hasControlOrBidi: Bool {
        // Most names are of ASCII alone, which is looked through far faster.
        let isPlain = utf8.withContiguousStorageIfAvailable { bytes in
            UnsafeRawBufferPointer(bytes).isPlainText
        }
        return isPlain != true && unicodeScalars.contains(where: \.hasControlOrBidi)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether all bytes are characters of ASCII that are no control characters; eight of them at once.
    fileprivate var isPlainText: Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var place = 0
        while place + 8 <= count {
            let bytes = loadUnaligned(fromByteOffset: place, as: UInt64.self)
            // High bit set where a byte is >= 0x80, < 0x20 (borrow) or 0x7F (carry).
            let steering = bytes | (bytes &- 0x20 &* ones) | (bytes &+ ones)
            guard steering & (0x80 &* ones) == 0 else { return false }
            place += 8
        }
        while place < count {
            guard 0x20..<0x7F ~= self[place] else { return false }
            place += 1
        }
        return true
    }
}

extension Unicode.Scalar {
    /// Whether it would end a line, turn the direction of writing, or steer a terminal, and so let a
    /// name pretend to be something else (Unicode TR 36).
    fileprivate var hasControlOrBidi: Bool {
        switch value {
        case 0x00..<0x20, 0x7F..<0xA0, 0x2028...0x2029: true
        case 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
