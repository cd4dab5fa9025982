internal import LinuxSystem

extension MemoryPressure {
    /// Of this machine, now; `nil` where the kernel does not say.
    static func now() -> MemoryPressure? { MemoryPressure(path: "/proc/pressure/memory") }

    /// `some waited for it 0.41% of the last 10s, all 0.00%`.
    package var text: String {
        let (some, all) = (MemoryPressure.percent(some), MemoryPressure.percent(full))
        return "some waited for it \(some) of the last 10s, all \(all)"
    }

    private static func percent(_ hundredths: Int) -> String {
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)%"
    }
}
