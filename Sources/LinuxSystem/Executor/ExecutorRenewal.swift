internal import CExecutor

/// Has an idle executor of another version run its program anew, which may have been installed meanwhile.
struct ExecutorRenewal {
    /// Versions that were asked to: what was installed is what they are.
    private var asked: Set<String> = []
    /// The serial of the order that is not answered, or was obeyed; `nil`: there is none.
    private var serial: UInt64?

    /// Whether an executor of that version is to run its program anew, when it is idle.
    func wants(from version: String) -> Bool {
        version != EXECUTOR_PROGRAM_VERSION && !asked.contains(version)
    }

    /// It was ordered to, and is not asked again.
    mutating func begin(from version: String, serial: UInt64) {
        asked.insert(version)
        self.serial = serial
    }

    /// An order was answered.
    ///
    /// - Returns: whether it was this one, and the executor stays as it is.
    mutating func isRefused(by serial: UInt64, code: Int32) -> Bool {
        guard serial == self.serial, code != 0 else { return false }
        self.serial = nil
        return true
    }
}
