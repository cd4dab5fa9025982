internal import CSystemd
internal import Glibc

/// A message of sd-bus(3) that is being written; types are those of sd_bus_message_append(3).
package final class BusMessage {
    let pointer: OpaquePointer

    /// - Parameter pointer: a reference that is given up to this value.
    package init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        sd_bus_message_unref(pointer)
    }

    package func append(_ text: String) throws(SystemdError) {
        let result = text.withCString { sd_bus_message_append_basic(pointer, Self.code("s"), $0) }
        try Self.check(result)
    }

    package func append(_ isTrue: Bool) throws(SystemdError) {
        // In memory a D-Bus boolean is an int.
        var number: Int32 = isTrue ? 1 : 0
        try Self.check(sd_bus_message_append_basic(pointer, Self.code("b"), &number))
    }

    package func append(_ number: UInt32) throws(SystemdError) {
        var number = number
        try Self.check(sd_bus_message_append_basic(pointer, Self.code("u"), &number))
    }

    func append(_ number: Int32) throws(SystemdError) {
        var number = number
        try Self.check(sd_bus_message_append_basic(pointer, Self.code("i"), &number))
    }

    /// Appends an array (`a`), a structure (`r`) or a variant (`v`) with what `body` appends.
    package func container(
        _ kind: Character, of contents: String, _ body: () throws(SystemdError) -> Void
    ) throws(SystemdError) {
        try Self.check(sd_bus_message_open_container(pointer, Self.code(kind), contents))
        try body()
        try Self.check(sd_bus_message_close_container(pointer))
    }

    private static func check(_ result: Int32) throws(SystemdError) {
        try SystemdError.check(result, "sd_bus_message_append")
    }

    package static func code(_ type: Character) -> CChar {
        CChar(bitPattern: type.asciiValue ?? 0)
    }
}

/// A message of sd-bus(3) that came, valid while its callback runs.
package struct ReceivedMessage {
    let pointer: OpaquePointer

    package init(pointer: OpaquePointer) {
        self.pointer = pointer
    }

    /// An error in the sender's words.
    struct Failure {
        /// Such as `org.freedesktop.systemd1.NoSuchUnit`.
        let name: String
        let message: String

        var words: String { message.isEmpty ? name : "\(name): \(message)" }
    }

    /// What one message brings at most to be kept: the sender may be any user's program.
    private static let textBytesMax = 4_096

    /// What went wrong; `nil` for an ordinary message.
    var failure: Failure? {
        guard let error = sd_bus_message_get_error(pointer)?.pointee else { return nil }
        return Failure(
            name: error.name.map(Self.text) ?? "", message: error.message.map(Self.text) ?? "")
    }

    /// Reads the next value, an object path (`o`) or a string (`s`); `nil` where it is none.
    package func text(_ type: Character) -> String? {
        var text: UnsafePointer<CChar>?
        guard sd_bus_message_read_basic(pointer, BusMessage.code(type), &text) > 0, let text
        else { return nil }
        return Self.text(text)
    }

    /// Reads the next value, a number of 32 bits (`u`).
    package func number() -> UInt32? {
        var number: UInt32 = 0
        return sd_bus_message_read_basic(pointer, BusMessage.code("u"), &number) > 0 ? number : nil
    }

    /// Reads the next value, inside a variant or not; `nil` for a type that no caller here needs.
    func value() -> BusValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        let peeked = sd_bus_message_peek_type(pointer, &type, &contents)
        guard peeked > 0 else { return peeked == 0 ? .nothing : nil }
        switch type {
        case BusMessage.code("v"):
            guard sd_bus_message_enter_container(pointer, type, contents) > 0 else { return nil }
            // The type of a variant is one type, and no variant again for the properties of a unit.
            var inner: CChar = 0
            guard sd_bus_message_peek_type(pointer, &inner, nil) > 0, inner != type
            else { return nil }
            return value()
        case BusMessage.code("r"):
            // A number and an object, as a unit has its job.
            guard let contents, String(cString: contents) == "uo",
                sd_bus_message_enter_container(pointer, type, contents) > 0, number() != nil
            else { return nil }
            return text("o").map(BusValue.text)
        case BusMessage.code("s"): return text("s").map(BusValue.text)
        case BusMessage.code("o"): return text("o").map(BusValue.text)
        case BusMessage.code("b"):
            var flag: Int32 = 0
            return sd_bus_message_read_basic(pointer, type, &flag) > 0 ? .flag(flag != 0) : nil
        case BusMessage.code("t"):
            var number: UInt64 = 0
            return sd_bus_message_read_basic(pointer, type, &number) > 0 ? .number(number) : nil
        default: return nil
        }
    }

    private static func text(_ text: UnsafePointer<CChar>) -> String {
        let count = strnlen(text, textBytesMax)
        return text.withMemoryRebound(to: UInt8.self, capacity: count) {
            String(decoding: UnsafeBufferPointer(start: $0, count: count), as: UTF8.self)
        }
    }
}

/// One value out of a ``ReceivedMessage``.
enum BusValue: Equatable {
    /// The message ends here.
    case nothing
    case text(String)
    case flag(Bool)
    /// 64 bits without a sign (`t`).
    case number(UInt64)
}
