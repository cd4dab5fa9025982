import TaskAPI
import Varlink

/// A connection that is fed in pieces, and answers as the daemon does.
enum Frames {
    private static let service = ServiceInterface(
        ServiceInterface.Identity(vendor: "v", product: "p", version: "1", url: ""),
        interfaces: Interfaces.texts)

    private static let limits: ConnectionLimits = {
        var limits = ConnectionLimits()
        limits.frameBytesMax = 4096
        limits.inputBytesMax = 8192
        limits.outputBytesMax = 65_536
        limits.callsWaitingMax = 64
        return limits
    }()

    /// The first byte chooses the size of the pieces.
    static func run(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        var connection = ServerConnection(limits: limits)
        var rest = bytes.dropFirst()
        while !rest.isEmpty {
            let piece = rest.prefix(Int(first) + 1)
            rest = rest.dropFirst(piece.count)
            do throws(ProtocolViolation) {
                try receive(piece, on: &connection)
                try answer(on: &connection)
            } catch {
                return expectBroken(&connection)
            }
            precondition(connection.bufferedBytes <= 2 * limits.inputBytesMax + (1 << 20))
        }
    }

    static func receive(
        _ piece: some Collection<UInt8>, on connection: inout ServerConnection
    ) throws(ProtocolViolation) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: piece.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: piece)
        try connection.receive(UnsafeRawBufferPointer(copy))
    }

    private static func answer(on connection: inout ServerConnection) throws(ProtocolViolation) {
        while let call = try connection.nextCall() {
            precondition(connection.isCallInProgress)
            if service.answer(call, on: &connection) == nil {
                if call.more { _ = connection.reply(Empty(), continues: true) }
                _ = connection.reply(service.refusal(of: call))
            }
            precondition(!connection.isCallInProgress)
            connection.sent(connection.pendingOutputCount)
        }
    }

    /// Who broke the protocol once has no further call.
    private static func expectBroken(_ connection: inout ServerConnection) {
        do throws(ProtocolViolation) {
            guard try connection.nextCall() == nil else { preconditionFailure("a call after all") }
        } catch {
            return
        }
    }
}
