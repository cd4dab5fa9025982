import Testing

extension DaemonProcess {
    /// Expects one line with this text. A thread of the daemon writes it.
    func expectSaidOnce(_ text: String) throws {
        try waitForLog(text)
        #expect(log.split(separator: "\n").count { $0.contains(text) } == 1, "\(log)")
    }

    /// How much was left out of the log, by those of its lines that have a text.
    ///
    /// - Parameter user: whose lines; `nil`: anybody's.
    func leftOut(_ text: String, of user: TestUser? = nil) -> Int {
        let owner = user.map { "BGTASK_OWNER=\($0.user) " }
        let reason = "BGTASK_REASON=\""
        return log.split(separator: "\n").reduce(0) { sum, line in
            guard line.contains(text), owner.map({ line.contains($0) }) ?? true,
                let found = line.firstRange(of: reason)
            else { return sum }
            return sum + (Int(line[found.upperBound...].prefix { $0.isNumber }) ?? 0)
        }
    }
}
