import JSON
import Varlink

extension ServerConnection {
    mutating func receive(_ bytes: some Collection<UInt8>) throws(ProtocolViolation) {
        let bytes = Array(bytes)
        try bytes.withUnsafeBufferPointer { buffer throws(ProtocolViolation) in
            try receive(UnsafeRawBufferPointer(buffer))
        }
    }

    /// Takes all pending output.
    mutating func takeOutput() -> String {
        let text = withPendingOutput { String(decoding: $0, as: UTF8.self) }
        sent(pendingOutputCount)
        return text
    }
}

extension ClientConnection {
    mutating func receive(_ bytes: some Collection<UInt8>) throws(ProtocolViolation) {
        let bytes = Array(bytes)
        try bytes.withUnsafeBufferPointer { buffer throws(ProtocolViolation) in
            try receive(UnsafeRawBufferPointer(buffer))
        }
    }

    /// Takes all pending output.
    mutating func takeOutput() -> String {
        let text = withPendingOutput { String(decoding: $0, as: UTF8.self) }
        sent(pendingOutputCount)
        return text
    }
}

/// The frame of a text.
func frame(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

extension Message {
    /// The message as JSON text.
    var text: String {
        var writer = JSONWriter()
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Reads the message as a server does from the parameters of a call.
    static func parsing(_ parameters: String) throws -> Self {
        var connection = ServerConnection()
        try connection.receive(frame(#"{"method":"a.B","parameters":\#(parameters)}"#))
        guard let call = try connection.nextCall() else { throw NoCall() }
        return try call.decode(Self.self)
    }
}

/// A frame was not handed out as a call.
struct NoCall: Error {}
