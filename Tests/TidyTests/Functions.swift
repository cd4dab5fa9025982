extension SourceFile {
    /// The lines of each function and initializer with a body, from its keyword to its last brace.
    var functions: [ClosedRange<Int>] {
        let starts = offsets(of: "func") + offsets(of: "init(") + offsets(of: "init<")
        return starts.sorted().compactMap { start in
            // Not a call such as `self.init(…)`.
            if start > 0, code[start - 1] == UInt8(ascii: ".") { return nil }
            guard let open = bodyStart(after: start), let end = closingBrace(of: open) else {
                return nil
            }
            return line(at: start)...line(at: end)
        }
    }

    /// The brace that opens the body; `nil` for a requirement of a protocol.
    private func bodyStart(after start: Int) -> Int? {
        var depth = 0
        for (index, byte) in zip(start..., code[start...]) {
            switch byte {
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "{") where depth == 0: return index
            case UInt8(ascii: "}") where depth == 0: return nil
            case Self.newline where depth == 0:
                if !signatureGoesOn(after: index) { return nil }
            default: break
            }
            if depth < 0 { return nil }
        }
        return nil
    }

    private func signatureGoesOn(after newline: Int) -> Bool {
        let rest = code[newline...].drop { $0 == Self.newline || $0 == Self.blank }
        return ["{", "->", "throws", "async", "rethrows", "where"].contains {
            rest.starts(with: $0.utf8)
        }
    }

    private func closingBrace(of open: Int) -> Int? {
        var depth = 0
        for (index, byte) in zip(open..., code[open...]) {
            if byte == UInt8(ascii: "{") { depth += 1 }
            if byte == UInt8(ascii: "}") { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }
}
