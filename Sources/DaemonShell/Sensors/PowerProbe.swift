internal import LinuxSystem

/// Reads whether the machine is on external power.
final class PowerProbe: ConditionProbe {
    /// How often the supplies are read; `nil` where the kernel tells of changes.
    let interval: Duration?

    private let supplies: PowerSupplies
    private let watch: UeventWatch?
    /// Why the kernel does not tell of changes; `nil` where it does, or in a test.
    private let hindrance: String?
    private var reading: ConditionReading?

    private static let ownInterval = Duration.seconds(60)
    private static let testInterval = Duration.milliseconds(100)

    /// - Parameter root: a folder that stands for / in a test.
    init(root: String?) {
        supplies = PowerSupplies(root: root ?? "")
        guard root == nil else {
            (watch, hindrance, interval) = (nil, nil, Self.testInterval)
            return
        }
        do throws(SystemError) {
            watch = try UeventWatch(subsystem: "power_supply")
            (hindrance, interval) = (nil, nil)
        } catch {
            watch = nil
            (hindrance, interval) = ("\(error)", Self.ownInterval)
        }
    }

    var descriptor: Int32? { watch?.descriptor }

    func read() throws(SystemError) -> ConditionReading? {
        if let reading, let watch, try !watch.read() { return reading }
        let source = try supplies.read()
        let text =
            switch source {
            case .supply(let name): "on external power (\(name.printable) online)"
            case .battery(let name): "running on battery (\(name.printable) discharging)"
            case .notDischarging: "on external power (no battery is discharging)"
            case .unknown: "on external power (there is no battery)"
            }
        reading = ConditionReading(holds: source.isExternal, text: text, hindrance: hindrance)
        return reading
    }
}
