internal import CSystemd
internal import Glibc

/// A message of sd-bus(3) that is being written; types are those of sd_bus_message_append(3).
final class BusMessage {
    let pointer: OpaquePointer

    /// - Parameter pointer: a reference that is given up to this value.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        sd_bus_message_unref(pointer)
    }

    func append(_ text: String) throws(SystemdError) {
        let result = text.withCString { sd_bus_message_append_basic(pointer, Self.code("s"), $0) }
        try Self.check(result)
    }

    func append(_ isTrue: Bool) throws(SystemdError) {
        // In memory a D-Bus boolean is an int.
        var number: Int32 = isTrue ? 1 : 0
        try Self.check(sd_bus_message_append_basic(pointer, Self.code("b"), &number))
    }

    func append(_ number: UInt32) throws(SystemdError) {
        var number = number
        try Self.check(sd_bus_message_append_basic(pointer, Self.code("u"), &number))
    }

    /// Appends an array (`a`), a structure (`r`) or a variant (`v`) with what `body` appends.
    func container(
        _ kind: Character, of contents: String, _ body: () throws(SystemdError) -> Void
    ) throws(SystemdError) {
        try Self.check(sd_bus_message_open_container(pointer, Self.code(kind), contents))
        try body()
        try Self.check(sd_bus_message_close_container(pointer))
    }

    private static func check(_ result: Int32) throws(SystemdError) {
        try SystemdError.check(result, "sd_bus_message_append")
    }

    private static func code(_ type: Character) -> CChar {
        CChar(bitPattern: type.asciiValue ?? 0)
    }
}

/// A message of sd-bus(3) that came, valid while its callback runs.
struct ReceivedMessage {
    let pointer: OpaquePointer

    /// What went wrong, in the sender's words; `nil` for an ordinary message.
    var failure: String? {
        guard let error = sd_bus_message_get_error(pointer)?.pointee else { return nil }
        let words = [error.name, error.message].compactMap { $0.map { String(cString: $0) } }
        return words.joined(separator: ": ")
    }

    /// Reads the next value, an object path (`o`) or a string (`s`); `nil` where it is none.
    func text(_ type: Character) -> String? {
        var text: UnsafePointer<CChar>?
        let code = CChar(bitPattern: type.asciiValue ?? 0)
        guard sd_bus_message_read_basic(pointer, code, &text) > 0, let text else { return nil }
        return String(cString: text)
    }

    /// Reads the next value, a number of 32 bits (`u`).
    func number() -> UInt32? {
        var number: UInt32 = 0
        let code = CChar(bitPattern: UInt8(ascii: "u"))
        return sd_bus_message_read_basic(pointer, code, &number) > 0 ? number : nil
    }
}
