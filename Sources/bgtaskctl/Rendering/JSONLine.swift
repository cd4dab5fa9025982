internal import JSON
internal import Varlink

/// One message as one line of compact JSON, with the field names of the wire.
enum JSONLine {
    static func text<M: Message>(_ message: M) -> String {
        var writer = JSONWriter()
        message.write(to: &writer)
        return VisibleText.json(String(decoding: writer.bytes, as: UTF8.self)) + "\n"
    }
}
