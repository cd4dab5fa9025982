package import CLinux

/// One message out of a netlink datagram (netlink(7)).
package struct NetlinkMessage {
    package let header: nlmsghdr
    package let payload: ArraySlice<UInt8>
}

/// The messages of a datagram; what is cut short or odd ends them.
package struct NetlinkMessages: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    package init(_ datagram: ArraySlice<UInt8>) {
        rest = datagram
    }

    package mutating func next() -> NetlinkMessage? {
        let headerSize = MemoryLayout<nlmsghdr>.size
        guard let header = rest.value(nlmsghdr.self),
            let message = rest.takeFirst(Int(header.nlmsg_len), atLeast: headerSize)
        else { return nil }
        return NetlinkMessage(header: header, payload: message.dropFirst(headerSize))
    }
}

/// The attributes behind the fixed part of a message (rtnetlink(7)); what is cut short or odd ends them.
package struct NetlinkAttributes: Sequence, IteratorProtocol {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    package mutating func next() -> (type: UInt32, payload: ArraySlice<UInt8>)? {
        let headerSize = MemoryLayout<rtattr>.size
        guard let header = rest.value(rtattr.self),
            let attribute = rest.takeFirst(Int(header.rta_len), atLeast: headerSize)
        else { return nil }
        return (UInt32(header.rta_type), attribute.dropFirst(headerSize))
    }
}

extension ArraySlice<UInt8> {
    /// The plain C value that the bytes begin with, in the machine's own order; `nil` where they are too few.
    func value<Value: BitwiseCopyable>(_: Value.Type) -> Value? {
        guard count >= MemoryLayout<Value>.size else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(as: Value.self) }
    }

    /// Takes `length` bytes off the front, and what pads them to a multiple of four.
    ///
    /// - Returns: those bytes; `nil` where there are fewer, or fewer are asked for than `minimum`.
    mutating func takeFirst(_ length: Int, atLeast minimum: Int) -> ArraySlice<UInt8>? {
        guard length >= minimum, length <= count else { return nil }
        let first = prefix(length)
        self = dropFirst((length + 3) & ~3)
        return first
    }
}
