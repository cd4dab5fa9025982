internal import Glibc
internal import TaskAPI

/// Where the daemon is.
enum DaemonSocket {
    private static let system = "/run/bgtaskd/org.bgtaskd"

    /// Finds its socket as bgtaskctl(1) does: what is given, `BGTASK_SOCKET`, the system's daemon where it has one (and
    /// for root always), or the user's own.
    static func path(_ given: String?) -> String {
        if let chosen = given ?? SystemText.variable("BGTASK_SOCKET") { return chosen }
        if geteuid() == 0 || access(system, F_OK) == 0 { return system }
        let folder = SystemText.variable("XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())"
        return folder + "/bgtaskd/org.bgtaskd"
    }
}

/// Words of the C library.
enum SystemText {
    /// The value of a variable; `nil` where it is not set or empty.
    static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// strerror(3).
    static func error(_ number: Int32) -> String {
        var text = [CChar](repeating: 0, count: 256)
        guard strerror_r(number, &text, text.count) == 0 else { return "error \(number)" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
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
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        let part = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        let (product, overflows) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflows else { return seconds < 0 ? .min : .max }
        let (sum, isTooMuch) = product.addingReportingOverflow(part)
        return isTooMuch ? .max : Int(clamping: sum)
    }
}
