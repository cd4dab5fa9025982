internal import CLinux
internal import Glibc

/// What subuid(5) gives to users.
package struct SubordinateIDs: Equatable, Sendable {
    package struct Range: Equatable, Sendable {
        package var user: UInt32
        package var uids: ClosedRange<UInt32>
    }

    package private(set) var ranges: [Range] = []

    /// Reads the lines of such a file; those that make no sense are left out, as newuidmap(1) does.
    ///
    /// - Parameter user: the uid of a name that is not a number; it may take its time.
    package init(text: String, user: (String) -> UInt32?) {
        var known: [Substring: UInt32?] = [:]
        for line in text.split(separator: "\n").prefix(SubordinateIDs.linesMax) {
            let fields = line.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 3, let first = UInt32(fields[1]), let count = UInt32(fields[2]),
                count > 0
            else { continue }
            let owner = UInt32(fields[0]) ?? known[fields[0]] ?? user(String(fields[0]))
            known[fields[0]] = .some(owner)
            guard let owner else { continue }
            let last = UInt32(min(UInt64(first) + UInt64(count) - 1, UInt64(UInt32.max)))
            ranges.append(Range(user: owner, uids: first...last))
        }
    }

    /// Reads such a file, and asks the user database for those in it; both may take their time.
    ///
    /// - Returns: none where there is no such file, or it cannot be read.
    package init(path: String) {
        self.init(text: SubordinateIDs.text(of: path)) { UserEntry.number(of: $0) }
    }

    private static let bytesMax = 4 << 20
    private static let linesMax = 100_000

    private static func text(of path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < bytesMax {
            let count = read(file, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What says that a file was changed.
    package struct Stamp: Equatable, Sendable {
        private let file: UInt64
        private let size: Int64
        private let seconds: Int
        private let nanoseconds: Int

        /// - Returns: `nil` where there is no such file.
        package init?(path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            file = UInt64(status.st_ino)
            size = Int64(status.st_size)
            seconds = status.st_mtim.tv_sec
            nanoseconds = status.st_mtim.tv_nsec
        }
    }
}
