internal import Glibc
internal import TaskAPI

/// Where the daemon is.
package enum DaemonSocket {
    /// Finds its socket as bgtaskctl(1) does: what is given, `BGTASK_SOCKET`, the system's daemon where it has one (and
    /// for root always), or the user's own.
    package static func path(_ given: String?) -> String {
        if let chosen = given ?? Environment.value("BGTASK_SOCKET") { return chosen }
        let system = DaemonSocketPath.system
        if geteuid() == 0 || access(system, F_OK) == 0 { return system }
        return DaemonSocketPath.user(
            Environment.value("XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())")
    }
}

/// The variables of this process.
package enum Environment {
    /// The value of one; `nil` where it is not set or empty.
    package static func value(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}

/// What time is asked for.
struct BudgetRequest {
    let wire: Tasks.Budget?

    /// - Parameter grace: a quarter of the budget if not given, 5 s at most.
    init(_ budget: Duration?, _ grace: Duration?) {
        wire = budget.map { budget in
            var wire = Tasks.Budget()
            wire.durationMs = budget.milliseconds
            wire.graceMs = (grace ?? min(budget / 4, .seconds(5))).milliseconds
            return wire
        }
    }
}

extension Duration {
    /// Rounded up, so that a short time is not none; what no number has is the most.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflows else { return seconds < 0 ? .min : .max }
        let (sum, isTooMuch) = product.addingReportingOverflow(part)
        return isTooMuch ? .max : Int(clamping: sum)
    }
}
