internal import CLinux
internal import Glibc

/// A process that lets go of what strangers have sent, and shares nothing with this one (`clinux_closer.h`).
///
/// It ends when it is let go of and has done what it was given, or after some seconds with nothing to do.
package final class CloserProcess {
    private let socket: OwnedDescriptor

    /// Makes them. It is forked early, while this process has little memory.
    package final class Maker {
        private let socket: OwnedDescriptor
        let processID: Int32
        /// Those of ``close(_:of:)``.
        fileprivate var closers: [UInt32: CloserProcess] = [:]

        /// - Throws: as of fork(2) and socketpair(2).
        package init() throws(SystemError) {
            var processID: Int32 = 0
            socket = OwnedDescriptor(try systemCall("fork") { clx_closers_begin(&processID) })
            self.processID = processID
        }

        /// - Throws: EPIPE where it has ended; as of socketpair(2).
        package func make() throws(SystemError) -> CloserProcess {
            CloserProcess(try makeProcess())
        }

        /// Another descriptor of the socket by which it is told to make one, for another thread.
        package func duplicate() throws(SystemError) -> OwnedDescriptor { try socket.duplicate() }

        /// - Returns: a socket to it.
        package func makeProcess() throws(SystemError) -> OwnedDescriptor {
            let maker = socket.rawValue
            return OwnedDescriptor(try systemCall("sendmsg") { clx_closer_make(maker) })
        }

        /// Connects to a Unix socket of a user's, by a process with that user's rights that passes bytes on, so that nothing
        /// else comes from there. For root.
        ///
        /// - Returns: a non-blocking socket; it hangs up where the process cannot connect, or another user listens there.
        /// - Throws: EPIPE where the maker has ended; as of socketpair(2).
        package func connect(
            to path: String, as user: UInt32
        ) throws(SystemError) -> OwnedDescriptor {
            let maker = socket.rawValue
            return OwnedDescriptor(
                try systemCall("sendmsg", path) { clx_closer_connect(maker, user, path) })
        }
    }

    private init(_ socket: consuming OwnedDescriptor) {
        self.socket = socket
    }

    /// Readable where it has an answer, or has ended.
    package var descriptor: Int32 { socket.rawValue }

    /// Closes a descriptor, so that this process is not the last to do so.
    ///
    /// - Parameter token: under which it is answered, with nothing, when it is closed; 0: it is not.
    /// - Throws: EAGAIN where it has too much to do, EPIPE where it has ended; the descriptor is open then.
    package func close(_ descriptor: Int32, token: UInt64 = 0) throws(SystemError) {
        let error = clx_closer_close(socket.rawValue, token, descriptor)
        guard error == 0 else { throw SystemError(operation: "sendmsg", errno: error) }
    }

    /// Has one datagram of a socket taken, which is answered under the token.
    ///
    /// - Throws: as ``close(_:)``.
    package func take(_ socket: Int32, token: UInt64) throws(SystemError) {
        let error = clx_closer_take(self.socket.rawValue, token, socket)
        guard error == 0 else { throw SystemError(operation: "sendmsg", errno: error) }
    }

    /// What came of an order to take.
    package struct Answer {
        package let token: UInt64
        package let receipt: NotifySocket.Receipt
    }

    /// Takes an answer, if there is one; its text goes into the buffer, as far as there is room.
    ///
    /// - Throws: EPIPE where it has ended.
    package func answer(
        into buffer: UnsafeMutableRawBufferPointer
    ) throws(SystemError) -> Answer? {
        var answer = clx_closer_answer()
        let closer = socket.rawValue
        guard try systemCall("recv", "a closer", { clx_closer_answer(closer, &answer) }) == 1
        else { return nil }
        let count = Int(answer.length)
        let receipt: NotifySocket.Receipt
        if count < 0 {
            receipt = .nothing
        } else if count > buffer.count || count > Self.textBytesMax {
            receipt = .tooLong(sender: answer.sender)
        } else {
            withUnsafeBytes(of: &answer.text) {
                buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            receipt = .message(count: count, sender: answer.sender)
        }
        return Answer(token: answer.token, receipt: receipt)
    }

    private static let textBytesMax = Int(CLX_CLOSER_TEXT_BYTES)
}

extension CloserProcess.Maker: DescriptorCloser {
    /// For a process that is about to end: where no other can be made, it stays open until then.
    package func close(_ descriptor: consuming OwnedDescriptor, of user: UInt32) {
        let number = descriptor.take()
        if let closer = closers[user], (try? closer.close(number)) != nil { return }
        closers[user] = try? make()
        try? closers[user]?.close(number)
    }

    /// What cannot be removed stays.
    package func remove(_ path: String) { try? removeNow(path) }
}
