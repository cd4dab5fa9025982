/// What the kernel's audit counts a process and all that it starts in (`sessionid` of proc(5)).
///
/// Who sets the login user of a process gives it a new one, as is done for each command of another user. All
/// that descends from the command has it, wherever it goes and whoever its parents are; nobody but root can
/// change it. Where the audit is missing or may not be used, nothing has one.
struct AuditSession: RawRepresentable, Hashable, Sendable {
    let rawValue: UInt32

    /// That of this process, which is no task's.
    static let own = try? AuditSession(ofProcess: "self")

    /// That of a process; `nil` where it has none, and where it is gone and reaped.
    ///
    /// - Throws: where there is no room to read it.
    static func of(_ processID: Int32) throws(SystemError) -> AuditSession? {
        try AuditSession(ofProcess: "\(processID)")
    }

    /// That of a command which has got one for itself; `nil` where it has none that is not ours too, or cannot be
    /// read.
    static func ofCommand(_ processID: Int32) -> AuditSession? {
        guard let session = try? of(processID), session != own else { return nil }
        return session
    }

    init(rawValue: UInt32) { self.rawValue = rawValue }

    private init?(ofProcess process: String) throws(SystemError) {
        let text: String
        do {
            text = try readText("/proc/\(process)/sessionid", countMax: 32)
        } catch {
            if error.isShortage { throw error }
            return nil
        }
        guard let number = UInt32(text.prefix { $0.isNumber }), number != UInt32.max else {
            return nil
        }
        self.init(rawValue: number)
    }
}
