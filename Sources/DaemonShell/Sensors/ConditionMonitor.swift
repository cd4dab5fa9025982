internal import BudgetCore
internal import LinuxSystem
internal import Logging
internal import Systemd

/// Has the conditions followed that queued tasks wait for, besides slots and times, and no others.
final class ConditionMonitor {
    private let core: Core
    private let log: Logger
    private let sensors: ConditionSensors

    init(_ core: Core, _ loop: EventLoop, _ configuration: Configuration, _ log: Logger) {
        self.core = core
        self.log = log
        let relay = Relay()
        sensors = ConditionSensors(loop, log, root: configuration.sensorRoot) {
            relay.monitor?.conditionsRead()
        }
        relay.monitor = self
    }

    /// Lets the sensors call what is made after them.
    private final class Relay {
        weak var monitor: ConditionMonitor?
    }

    /// Follows what is waited for now.
    func follow() {
        let wanted = core.registry.isDraining ? [] : core.registry.wantedConditions
        guard wanted != sensors.wanted else { return }
        sensors.want(wanted)
        takeConditions()
    }

    private func conditionsRead() { core.turn { takeConditions() } }

    private func takeConditions() {
        let readings = sensors.readings
        let conditions = sensors.conditions
        let changed = conditions.symmetricDifference(core.registry.conditions)
        core.update { registry, _, _ in registry.conditionReadings = readings.mapValues(\.text) }
        guard !changed.isEmpty else { return }
        for (condition, reading) in readings.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where changed.contains(condition) {
            log.say(.conditionChanged, [.reason: "\(condition.text): \(reading.text)"])
        }
        core.update { registry, now, actions in
            registry.conditionsChanged(to: conditions, at: now, &actions)
        }
    }
}

/// Has memory looked at while there are applications: at each sign that it is short those that are awake are warned, and
/// a suspended one is ended.
final class MemoryPressureMonitor {
    private let core: Core
    private let sensor: PressureSensor
    private let signals: SignalCount

    private final class SignalCount {
        var value = 0
    }

    /// How often memory was short while it was looked at.
    var signalCount: Int { signals.value }

    /// How high it is now, of the daemon's group and of the machine.
    var readings: [(place: String, pressure: MemoryPressure)] { sensor.readings }

    init(
        _ core: Core, _ loop: EventLoop, _ configuration: Configuration, _ executor: ExecutorLink,
        _ log: Logger
    ) {
        self.core = core
        let signals = SignalCount()
        self.signals = signals
        // Those of a child of this process are below this process's own.
        sensor = PressureSensor(
            loop, log, configuration,
            commandsFolder: { executor.outlivesProcess ? executor.groupFolder : nil }
        ) {
            signals.value += 1
            core.turn {
                core.update { registry, now, actions in
                    _ = registry.memoryPressure(on: nil, count: 1, at: now, &actions)
                }
            }
        }
    }

    func follow() { sensor.want(core.registry.looksAtMemory && !core.registry.isDraining) }
}
