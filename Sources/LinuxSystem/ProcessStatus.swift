/// What /proc/PID/status says of a process (proc_pid_status(5)).
///
/// The text is gone through once: the line of its groups may name 65,536 of them.
package struct ProcessStatus: Equatable {
    /// How many PID namespaces it has a number in.
    package private(set) var namespaceDepth: Int?
    package private(set) var capabilityBounds: UInt64?
    package private(set) var noNewPrivileges: Int?
    /// A kernel without seccomp(2) tells neither this nor the next.
    package private(set) var filterMode: Int?
    package private(set) var filterCount: Int?

    package init(_ text: some RandomAccessCollection<UInt8>) {
        var rest = text[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
            take(rest[..<end])
            rest = rest[end...].dropFirst()
        }
    }

    private mutating func take(_ line: some RandomAccessCollection<UInt8>) {
        let key = line.prefix(Self.keyMax).prefix { $0 != UInt8(ascii: ":") }
        func words() -> [String] {
            line.dropFirst(key.count + 1).split {
                $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: " ")
            }
            .map { String(decoding: $0, as: UTF8.self) }
        }
        switch String(decoding: key, as: UTF8.self) {
        case "NSpid": namespaceDepth = words().count
        case "CapBnd": capabilityBounds = words().first.flatMap { UInt64($0, radix: 16) }
        case "NoNewPrivs": noNewPrivileges = words().first.flatMap { Int($0) }
        case "Seccomp": filterMode = words().first.flatMap { Int($0) }
        case "Seccomp_filters": filterCount = words().first.flatMap { Int($0) }
        default: break
        }
    }

    /// `Seccomp_filters:`
    private static let keyMax = 16
}
