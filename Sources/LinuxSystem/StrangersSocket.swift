internal import CLinux
internal import Glibc

/// A Unix socket to which strangers send. Neither to read it nor to close it waits for descriptors that they send along: it
/// is looked at before, and handed to a ``DescriptorCloser`` where it has any.
package final class StrangersSocket {
    /// Borrowed: valid until it is closed.
    package let rawValue: Int32
    private let closer: any DescriptorCloser
    private let kind: Kind
    /// Another process may have it too.
    private let isShared: Bool
    private var isOpen = true
    /// Who sends.
    private let user: UInt32
    /// `nil` where that is who runs this program.
    private let cost: CallCost?
    /// A call on it has cost too much.
    private var wasSlow = false

    private enum Kind {
        /// The kernel lets nobody send a descriptor.
        case refusingStream
        case stream
        case datagrams

        static func of(_ socket: Int32) -> Kind {
            clx_refuse_descriptors(socket) ? .refusingStream : .stream
        }
    }

    private init(
        _ descriptor: consuming OwnedDescriptor, _ kind: Kind, isShared: Bool = false,
        of user: UInt32, _ closer: any DescriptorCloser
    ) {
        rawValue = descriptor.take()
        self.closer = closer
        self.kind = kind
        self.isShared = isShared
        self.user = user
        cost = user == geteuid() ? nil : closer.cost(of: user)
    }

    /// A connection that was accepted.
    package convenience init(
        connection: consuming OwnedDescriptor, closer: any DescriptorCloser
    ) {
        let kind = Kind.of(connection.rawValue)
        var (process, user, group): (pid_t, uid_t, gid_t) = (0, 0, 0)
        _ = clx_peer_credentials(connection.rawValue, &process, &user, &group)
        self.init(connection, kind, of: user, closer)
    }

    /// The reading end of what processes of this user print; bgtask-executor has it too.
    package convenience init(
        output: consuming OwnedDescriptor, of user: UInt32, closer: any DescriptorCloser
    ) {
        let kind = Kind.of(output.rawValue)
        self.init(output, kind, isShared: true, of: user, closer)
    }

    /// A socket of datagrams of this user, with SO_PASSCRED. Descriptors come to it as well (sd_notify_barrier(3)).
    convenience init(
        datagrams: consuming OwnedDescriptor, user: UInt32, closer: any DescriptorCloser
    ) {
        self.init(datagrams, .datagrams, of: user, closer)
    }

    deinit {
        close()
    }

    /// Closes it, if it is open. Nothing comes any more before the look, so that it is of all.
    package func close() {
        guard isOpen else { return }
        // It would wake all that poll.
        if !isShared, !isOfCostly, !isHarmless {
            _ = charge { Int(shutdown(rawValue, Int32(SHUT_RDWR))) }
        }
        leave()
    }

    /// Closes this descriptor of it alone, where another process may have one and go on with it.
    func leave() {
        guard isOpen else { return }
        isOpen = false
        if wasSlow || isOfCostly || !isHarmless && clx_socket_is_laden(rawValue, isShared) {
            closer.close(OwnedDescriptor(rawValue), of: user)
        } else {
            _ = charge { Int(Glibc.close(rawValue)) }
        }
    }

    /// Whether its close waits for nobody, and wakes nobody but who runs this program.
    private var isHarmless: Bool {
        if case .refusingStream = kind { return cost == nil }
        return false
    }

    /// What a look at the stream has found.
    package enum Receipt: Equatable, Sendable {
        case bytes(Int)
        /// Nothing waits.
        case nothing
        /// The peer sends no more.
        case end
        case failed(errno: Int32)
        /// A descriptor is among what waits, and nothing can be read any more.
        case descriptor
        /// So many poll its other end that its account has cost too much, and no more calls are made.
        case pollers

        /// What a call has found that returned no bytes.
        fileprivate static func of(count: Int, _ fault: Int32) -> Receipt {
            if count == 0 { return .end }
            return fault == EAGAIN ? .nothing : .failed(errno: fault)
        }
    }

    /// Whether so many poll its other end that its account has cost too much.
    package var hasTooManyPollers: Bool { wasSlow && isOfCostly }

    /// Whether its account has cost too much.
    package var isOfCostly: Bool { cost?.isTooMuch == true }

    private func charge(_ call: () -> Int) -> (count: Int, errno: Int32) {
        guard let cost else {
            let count = call()
            return (count, count < 0 ? errno : 0)
        }
        let (count, fault, isSlow) = cost.count(call)
        if isSlow { wasSlow = true }
        return (count, fault)
    }

    /// Sends what there is room for, without waiting.
    ///
    /// - Returns: how many bytes were sent, or -1 and the errno; EPIPE where they have cost too much.
    package func send(_ bytes: UnsafeRawBufferPointer) -> (count: Int, errno: Int32) {
        guard !hasTooManyPollers else { return (-1, EPIPE) }
        let socket = rawValue
        return charge {
            Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
    }

    /// Reads of a connection what there is room for, without waiting: all of it, or of others so much as is no more than some
    /// of their messages.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Receipt {
        guard !hasTooManyPollers else { return .pollers }
        if case .refusingStream = kind { return take(into: buffer) }
        // All that waits is looked through for a descriptor, and what is taken is no more than was looked at.
        var hasDescriptor = false
        let seen = clx_look_at_socket(
            rawValue, buffer.baseAddress, buffer.count, &hasDescriptor)
        if hasDescriptor { return .descriptor }
        guard seen > 0 else { return .of(count: seen, errno) }
        return take(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(seen)))
    }

    private static let partsMax = 16

    private func take(into buffer: UnsafeMutableRawBufferPointer) -> Receipt {
        var (received, parts) = (0, 0)
        while !hasTooManyPollers {
            let room = UnsafeMutableRawBufferPointer(rebasing: buffer[received...])
            let (count, fault) = charge { takePart(into: room) }
            if count > 0 {
                (received, parts) = (received + count, parts + 1)
                if cost != nil, received < buffer.count, parts < Self.partsMax, !wasSlow {
                    continue
                }
            } else if count < 0, fault == EINTR {
                continue
            }
            // What else has come is told at the next call.
            return received > 0 ? .bytes(received) : .of(count: count, fault)
        }
        return received > 0 ? .bytes(received) : .pollers
    }

    private func takePart(into room: UnsafeMutableRawBufferPointer) -> Int {
        cost == nil
            ? recv(rawValue, room.baseAddress, room.count, Int32(MSG_DONTWAIT))
            : clx_receive_message(rawValue, room.baseAddress, room.count)
    }

    /// Takes one datagram, without waiting for one. With a descriptor it stays where it is, and so does one that would cost too
    /// much.
    func receiveDatagram(
        into buffer: UnsafeMutableRawBufferPointer, _ path: String
    ) throws(SystemError) -> NotifySocket.Receipt {
        guard !hasTooManyPollers else { return .descriptor }
        var sender: UInt32 = 0
        var hasDescriptor = false
        let length: Int
        do throws(SystemError) {
            length = try systemCall("recvmsg", path) {
                let (length, fault) = charge {
                    clx_receive_datagram(
                        rawValue, buffer.baseAddress, buffer.count, &sender, &hasDescriptor)
                }
                errno = fault
                return length
            }
        } catch  where error.errno == EAGAIN {
            return .nothing
        }
        if hasDescriptor { return .descriptor }
        return length > buffer.count
            ? .tooLong(sender: sender) : .message(count: length, sender: sender)
    }
}
