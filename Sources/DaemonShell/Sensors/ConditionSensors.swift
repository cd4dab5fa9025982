internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Systemd

/// What is known of one condition.
struct ConditionReading: Equatable {
    var holds: Bool
    /// A sentence that says why, for people.
    var text: String
    /// Why changes are looked for now and then, where nothing tells of them and something should.
    var hindrance: String?
}

/// Follows one condition from its making to its end, and tells of each reading, or that it cannot go on.
protocol ConditionSensor: AnyObject {
    typealias Listener = (Result<ConditionReading, any Error>) -> Void

    /// What is known when it has been made, if anything.
    var reading: ConditionReading? { get }
}

/// Reads the conditions that queued tasks wait for, and no others: where none is wanted, there is no socket,
/// no timer and no thread.
final class ConditionSensors {
    private(set) var wanted: Conditions = []
    /// Of those that are wanted.
    private(set) var readings: [Conditions: ConditionReading] = [:]

    private let loop: EventLoop
    private let log: Logger
    private let root: String?
    private let changed: () -> Void
    private var sensors: [Conditions: any ConditionSensor] = [:]
    /// Those that have been wanted; what runs there ends with the sensor.
    private var threads: [Conditions: SensorThread] = [:]
    /// Those whose failure the log has.
    private var named: Conditions = []
    private var hasNamedPower = false
    private var retryTimer: TimerSource?

    /// How long a condition that could not be read is left alone.
    private static let retryInterval = Duration.seconds(60)
    private static let testRetryInterval = Duration.milliseconds(100)
    private static let each: [Conditions] = [.network, .externalPower, .idle]

    /// - Parameters:
    ///   - root: a folder that stands for / in a test.
    ///   - changed: called after each reading of a sensor that differs, and not by ``want(_:)``.
    init(_ loop: EventLoop, _ log: Logger, root: String?, changed: @escaping () -> Void) {
        self.loop = loop
        self.log = log
        self.root = root
        self.changed = changed
    }

    deinit { retryTimer?.remove() }

    /// Those that are wanted and hold. What cannot be read does not hold.
    var conditions: Conditions {
        readings.reduce(into: []) { if $1.value.holds { $0.formUnion($1.key) } }
    }

    /// Follows these conditions from now on, and no others. One whose first reading is still under way when
    /// this returns has a reading that says so, and does not hold.
    func want(_ conditions: Conditions) {
        guard conditions != wanted else { return }
        let before = wanted
        wanted = conditions
        for condition in Self.each where before.contains(condition) != wanted.contains(condition) {
            if wanted.contains(condition) {
                start(condition)
            } else {
                sensors[condition] = nil
                readings[condition] = nil
            }
        }
        if failing.isEmpty { stopRetrying() }
    }

    private var failing: Conditions {
        readings.keys.reduce(into: []) { if sensors[$1] == nil { $0.formUnion($1) } }
    }

    private func start(_ condition: Conditions) {
        do {
            let sensor = try make(condition)
            sensors[condition] = sensor
            if let reading = sensor.reading {
                know(reading, of: condition)
            } else if readings[condition] == nil {
                readings[condition] = ConditionReading(holds: false, text: "it is being read")
            }
        } catch {
            fail(condition, error)
        }
    }

    private func make(_ condition: Conditions) throws -> any ConditionSensor {
        let listener: ConditionSensor.Listener = { [unowned self] in take($0, of: condition) }
        switch condition {
        case .network:
            let thread = try thread(for: condition) { () throws(SystemError) in
                try NetworkProbe()
            }
            return try ThreadSensor(loop, thread, listener)
        case .externalPower:
            let thread = try thread(for: condition) { [root] in PowerProbe(root: root) }
            return try ThreadSensor(loop, thread, listener)
        default: return try IdleSensor(loop, root: root, listener)
        }
    }

    private func thread(
        for condition: Conditions, _ make: @escaping SensorThread.Make
    ) throws(SystemError) -> SensorThread {
        if let thread = threads[condition] { return thread }
        let thread = try SensorThread(make)
        threads[condition] = thread
        return thread
    }

    private func take(
        _ result: Result<ConditionReading, any Error>, of condition: Conditions
    ) {
        switch result {
        case .success(let reading): know(reading, of: condition)
        case .failure(let error): fail(condition, error)
        }
        changed()
    }

    private func know(_ reading: ConditionReading, of condition: Conditions) {
        readings[condition] = reading
        named.subtract(condition)
        guard let hindrance = reading.hindrance, !hasNamedPower else { return }
        hasNamedPower = true
        log.say(.powerNotTold, [.reason: hindrance])
    }

    private func fail(_ condition: Conditions, _ error: any Error) {
        sensors[condition] = nil
        let text = "\(condition.text) cannot be read: \(error)"
        readings[condition] = ConditionReading(holds: false, text: text)
        if !named.contains(condition) { log.say(.conditionNotRead, [.reason: text]) }
        named.formUnion(condition)
        retryLater()
    }

    private func retryLater() {
        do {
            let timer =
                try retryTimer
                ?? loop.addTimer(priority: .clients) { [unowned self] in
                    Self.each.filter(failing.contains).forEach(start)
                    changed()
                }
            retryTimer = timer
            try timer.arm(after: root == nil ? Self.retryInterval : Self.testRetryInterval)
        } catch {
            log.say(.conditionNotRead, [.reason: "the timer cannot be armed: \(error)"])
        }
    }

    private func stopRetrying() {
        retryTimer?.remove()
        retryTimer = nil
    }
}

extension Conditions {
    /// The names of these conditions, as a submitter writes them.
    var text: String {
        let names: [(Conditions, String)] = [
            (.network, "network"), (.externalPower, "externalPower"), (.idle, "idle"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}

extension TimerSource {
    func arm(after time: Duration) throws(SystemdError) {
        let nanoseconds = EventLoop.monotonicNanoseconds() + UInt64(time.wholeNanoseconds)
        try arm(atNanoseconds: nanoseconds)
    }
}
