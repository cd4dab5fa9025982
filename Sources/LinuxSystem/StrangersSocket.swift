internal import CLinux
internal import Glibc

/// A Unix socket to which strangers send. Neither to read it nor to close it waits for descriptors that they send along: it
/// is looked at before, and handed to a ``DescriptorCloser`` where it has any.
package final class StrangersSocket {
    /// Borrowed: valid until it is closed.
    package let rawValue: Int32
    private let closer: any DescriptorCloser
    private let kind: Kind
    private var isOpen = true
    private var (sending, receiving) = (CallCost(), CallCost())

    private enum Kind {
        /// The kernel lets nobody send a descriptor. `nil`: the peer's user.
        case refusingStream(user: UInt32?)
        case stream
        /// Another process may have it too.
        case sharedStream(user: UInt32)
        case datagrams(user: UInt32)
    }

    /// A connection that was accepted.
    package init(connection: consuming OwnedDescriptor, closer: any DescriptorCloser) {
        rawValue = connection.take()
        self.closer = closer
        kind = clx_refuse_descriptors(rawValue) ? .refusingStream(user: nil) : .stream
    }

    /// The reading end of what processes of this user print; bgtask-executor has it too.
    package init(
        output: consuming OwnedDescriptor, of user: UInt32, closer: any DescriptorCloser
    ) {
        rawValue = output.take()
        self.closer = closer
        kind =
            clx_refuse_descriptors(rawValue)
            ? .refusingStream(user: user) : .sharedStream(user: user)
    }

    /// A socket of datagrams of this user, with SO_PASSCRED. Descriptors come to it as well (sd_notify_barrier(3)).
    init(datagrams: consuming OwnedDescriptor, user: UInt32, closer: any DescriptorCloser) {
        rawValue = datagrams.take()
        self.closer = closer
        kind = .datagrams(user: user)
    }

    deinit {
        close()
    }

    /// Closes it, if it is open. Nothing comes any more before the look, so that it is of all.
    package func close() {
        guard isOpen else { return }
        switch kind {
        case .refusingStream, .sharedStream: break
        // It would wake all that poll.
        case .stream where hasTooManyPollers: break
        case .stream, .datagrams: shutdown(rawValue, Int32(SHUT_RDWR))
        }
        leave()
    }

    /// Closes this descriptor of it alone, where another process may have one and go on with it.
    func leave() {
        guard isOpen else { return }
        isOpen = false
        let socket = OwnedDescriptor(rawValue)
        if !hasTooManyPollers {
            if case .refusingStream = kind { return }
            guard clx_socket_is_laden(rawValue) else { return }
        }
        closer.close(socket, of: user)
    }

    /// Who sends.
    private var user: UInt32 {
        switch kind {
        case .datagrams(let user), .sharedStream(let user), .refusingStream(let user?): return user
        case .stream, .refusingStream(nil):
            var (process, user, group): (pid_t, uid_t, gid_t) = (0, 0, 0)
            _ = clx_peer_credentials(rawValue, &process, &user, &group)
            return user
        }
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
        /// Each call costs too much, since so many poll its other end, and no more is made.
        case pollers
    }

    /// Whether each call costs too much, since so many poll its other end.
    package var hasTooManyPollers: Bool { sending.isTooMuch || receiving.isTooMuch }

    /// Sends what there is room for, without waiting.
    ///
    /// - Returns: how many bytes were sent, or -1 and the errno; EPIPE where each call costs too much.
    package func send(_ bytes: UnsafeRawBufferPointer) -> (count: Int, errno: Int32) {
        guard !hasTooManyPollers else { return (-1, EPIPE) }
        let socket = rawValue
        return sending.count {
            Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
        }
    }

    /// Reads of a connection what there is room for, without waiting.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> Receipt {
        while !hasTooManyPollers {
            var hasDescriptor = false
            let (socket, kind) = (rawValue, kind)
            let (count, fault) = receiving.count {
                if case .refusingStream = kind {
                    return recv(socket, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
                }
                return clx_receive_stream(
                    socket, buffer.baseAddress, buffer.count, &hasDescriptor)
            }
            if hasDescriptor { return .descriptor }
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end }
            if fault == EAGAIN { return .nothing }
            if fault != EINTR { return .failed(errno: fault) }
        }
        return .pollers
    }

    /// Takes one datagram, without waiting for one. With a descriptor it stays where it is.
    func receiveDatagram(
        into buffer: UnsafeMutableRawBufferPointer, _ path: String
    ) throws(SystemError) -> NotifySocket.Receipt {
        var sender: UInt32 = 0
        var hasDescriptor = false
        let count: Int
        do throws(SystemError) {
            count = try systemCall("recvmsg", path) {
                clx_receive_datagram(
                    rawValue, buffer.baseAddress, buffer.count, &sender, &hasDescriptor)
            }
        } catch  where error.errno == EAGAIN {
            return .nothing
        }
        if hasDescriptor { return .descriptor }
        return count > buffer.count
            ? .tooLong(sender: sender) : .message(count: count, sender: sender)
    }
}
