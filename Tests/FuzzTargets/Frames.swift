import TaskAPI
import Varlink

/// A connection that is fed in pieces, and answers as the daemon does.
enum Frames {
    private static let service = ServiceInterface(
        ServiceInterface.Identity(vendor: "v", product: "p", version: "1", url: ""),
        interfaces: Interfaces.texts)

    private static let limits: ConnectionLimits = {
        var limits = ConnectionLimits()
        limits.frameBytesMax = 512
        limits.inputBytesMax = 1024
        limits.outputBytesMax = 2048
        limits.callsWaitingMax = 4
        return limits
    }()

    /// Each piece has a byte before it: its length, and whether calls are answered and replies read
    /// after it.
    static func run(_ bytes: [UInt8]) {
        var connection = ServerConnection(limits: limits)
        var rest = bytes[...]
        while let order = rest.popFirst() {
            let piece = rest.prefix(Int(order & 0x3F) * 8)
            rest = rest.dropFirst(piece.count)
            do throws(ProtocolViolation) {
                // Who is to wait is not read, as the daemon does it.
                if connection.wantsInput { try receive(piece, on: &connection) }
                if order & 0x40 == 0 { try answer(on: &connection) }
            } catch {
                return expectBroken(&connection)
            }
            if order & 0x80 == 0 { connection.sent(connection.pendingOutputCount) }
            expectBounded(connection)
        }
    }

    /// One piece and one reply may come on top of what is let in.
    private static func expectBounded(_ connection: ServerConnection) {
        let inputMax = limits.inputBytesMax + limits.frameBytesMax + 64 * 8
        let replyMax = Interfaces.texts.values.reduce(4096) { max($0, 2 * $1.utf8.count) }
        precondition(connection.bufferedBytes <= inputMax + limits.outputBytesMax + replyMax)
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
        while connection.pendingOutputCount < limits.outputBytesMax,
            let call = try connection.nextCall()
        {
            precondition(connection.isCallInProgress)
            if service.answer(call, on: &connection) == nil {
                if call.more { _ = connection.reply(Empty(), continues: true) }
                _ = connection.reply(service.refusal(of: call))
            }
            precondition(!connection.isCallInProgress)
        }
    }

    /// Who broke the protocol once has no further call, whatever comes.
    private static func expectBroken(_ connection: inout ServerConnection) {
        let call = Array("{\"method\":\"a.b.C\"}\0".utf8)
        precondition((try? receive(call, on: &connection)) == nil, "it is read on")
        precondition((try? connection.nextCall()) == nil, "a call after all")
        precondition(!connection.wantsInput)
    }
}
