/// Strings in the form in which execve(2) takes them: an array of pointers, NULL at its end.
struct CStringList: ~Copyable {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let bytes: UnsafeMutablePointer<CChar>

    /// `nil` where a string has a NUL inside, which C would cut it at.
    init?(_ strings: [String]) {
        let byteCount = strings.reduce(0) { $0 + $1.utf8.count + 1 }
        bytes = .allocate(capacity: max(byteCount, 1))
        pointers = .allocate(capacity: strings.count + 1)
        var next = bytes
        var hasNul = false
        for (index, string) in strings.enumerated() {
            (pointers + index).initialize(to: next)
            for byte in string.utf8 {
                hasNul = hasNul || byte == 0
                next.initialize(to: CChar(bitPattern: byte))
                next += 1
            }
            next.initialize(to: 0)
            next += 1
        }
        (pointers + strings.count).initialize(to: nil)
        if hasNul { return nil }
    }

    deinit {
        bytes.deallocate()
        pointers.deallocate()
    }
}
