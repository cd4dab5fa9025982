// Text in which names stand that users choose, such as those of groups and folders. What a name begins or ends
// with may make one `Character` with the slash, the blank or the newline beside it; so bytes are compared.
extension StringProtocol where SubSequence == Substring {
    /// What stands between bytes of a value, as far as it is not empty.
    package func parts(between separator: Unicode.Scalar) -> [Substring] {
        Substring(self).utf8.split(separator: UInt8(ascii: separator)).map(Substring.init)
    }

    /// What stands behind a prefix; `nil` where it begins with something else.
    package func rest(behind prefix: String) -> Substring? {
        let bytes = Substring(self).utf8
        guard bytes.starts(with: prefix.utf8) else { return nil }
        return Substring(bytes.dropFirst(prefix.utf8.count))
    }

    /// What stands before a suffix; `nil` where it ends with something else.
    package func rest(before suffix: String) -> Substring? {
        let bytes = Substring(self).utf8
        guard bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else { return nil }
        return Substring(bytes.dropLast(suffix.utf8.count))
    }

    /// Where the last byte of a value is.
    func lastIndex(ofByte byte: Unicode.Scalar) -> Index? {
        Substring(self).utf8.lastIndex(of: UInt8(ascii: byte))
    }

    /// What stands between newlines.
    package var lines: [Substring] { parts(between: "\n") }
}
