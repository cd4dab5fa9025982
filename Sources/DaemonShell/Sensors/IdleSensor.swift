internal import BudgetCore
internal import LinuxSystem
internal import Systemd

/// Follows whether the machine has little else to do. The kernel does not tell, so its averages are sampled.
final class IdleSensor: ConditionSensor {
    private let probe: LoadProbe
    private var judge = IdleDetector()
    private var timer: TimerSource?

    private static let testInterval = Duration.milliseconds(100)

    init(_ loop: EventLoop, root: String?, _ listener: @escaping Listener) throws {
        probe = LoadProbe(root: root ?? "")
        let interval = root == nil ? IdleDetector.samplingInterval : Self.testInterval
        try sample()
        timer = try loop.addTimer(priority: .clients) { [unowned self] in
            listener(
                Result {
                    try sample()
                    try timer?.arm(after: interval)
                    return judged
                })
        }
        try timer?.arm(after: interval)
    }

    deinit { timer?.remove() }

    var reading: ConditionReading? { judged }

    private var judged: ConditionReading {
        ConditionReading(holds: judge.isIdle, text: judge.reading ?? "the load is being read")
    }

    private func sample() throws(SystemError) {
        let load = try probe.read()
        judge.judge(
            LoadSample(
                cpuPressure: load.cpuPressure, ioPressure: load.ioPressure,
                loadAverage: load.average, processors: load.processors))
    }
}
