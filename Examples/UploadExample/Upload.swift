import BackgroundTasksKit

/// A copy that goes on where it was stopped: `DESTINATION.part` is what is there already.
struct Upload {
    let source: String
    let destination: String

    private static let piece = 65536
    private var partial: String { destination + ".part" }

    /// - Returns: whether it was the last one.
    func sendPiece() throws -> Bool {
        let (sent, size) = try copyPiece()
        say("sent \(sent) of \(size) bytes")
        guard sent >= size else { return false }
        guard rename(partial, destination) == 0 else { throw Failure() }
        return true
    }

    private func copyPiece() throws -> (sent: Int, size: Int) {
        guard let source = fopen(source, "r") else { throw Failure() }
        defer { fclose(source) }
        guard let partial = fopen(partial, "a") else { throw Failure() }
        defer { fclose(partial) }

        fseek(source, 0, SEEK_END)
        fseek(partial, 0, SEEK_END)
        let size = ftell(source)
        fseek(source, ftell(partial), SEEK_SET)
        var bytes = [UInt8](repeating: 0, count: Upload.piece)
        let count = fread(&bytes, 1, bytes.count, source)
        guard ferror(source) == 0, fwrite(bytes, 1, count, partial) == count,
            fflush(partial) == 0
        else { throw Failure() }
        return (ftell(partial), size)
    }
}

/// What a call of the system has failed with.
struct Failure: Error, CustomStringConvertible {
    let description = String(cString: strerror(errno))
}
