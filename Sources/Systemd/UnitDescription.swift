/// What must be known of a unit before it may be frozen (org.freedesktop.systemd1(5)).
package struct UnitDescription: Equatable, Sendable {
    /// The name that was asked for.
    package let unit: String
    /// `active`, `inactive`, `failed`, `activating`, `deactivating`, `reloading` or `maintenance`.
    package let activeState: String
    /// `running`, `freezing`, `frozen` or `thawing`.
    package let freezerState: String
    /// Whether units of this kind can be frozen here at all.
    package let canFreeze: Bool
    /// Relative to the root of the hierarchy, such as `/system.slice/x.service`; empty while the unit has
    /// no processes.
    package let controlGroup: String
    /// WatchdogSec= in µs; 0 where there is none.
    ///
    /// systemd 252 goes on counting while the unit is frozen, and ends it in the middle.
    package let watchdogMicroseconds: UInt64

    /// Whether the manager would take the frozen unit for hung.
    package var hasWatchdog: Bool { watchdogMicroseconds != 0 }

    /// A property and the interface that has it.
    struct Property {
        let name: String
        let interface: String
    }

    private static let unitInterface = "org.freedesktop.systemd1.Unit"
    private static let serviceInterface = "org.freedesktop.systemd1.Service"

    /// What has to be asked of a unit with this name.
    static func properties(of unit: String) -> [Property] {
        var asked = ["ActiveState", "FreezerState", "CanFreeze"].map {
            Property(name: $0, interface: unitInterface)
        }
        guard let kind = kindsWithGroup.first(where: { unit.hasSuffix($0.suffix) }) else {
            return asked
        }
        asked.append(Property(name: "ControlGroup", interface: kind.interface))
        if kind.interface == serviceInterface {
            asked.append(Property(name: "WatchdogUSec", interface: serviceInterface))
        }
        return asked
    }

    /// Units of other kinds (systemd.unit(5)) have no processes.
    private static let kindsWithGroup: [(suffix: String, interface: String)] = [
        (".service", serviceInterface),
        (".scope", "org.freedesktop.systemd1.Scope"),
        (".slice", "org.freedesktop.systemd1.Slice"),
        (".socket", "org.freedesktop.systemd1.Socket"),
        (".mount", "org.freedesktop.systemd1.Mount"),
        (".swap", "org.freedesktop.systemd1.Swap"),
    ]

    /// - Parameter values: by the names of ``properties(of:)``.
    /// - Returns: `nil` where one is missing or of another type.
    init?(unit: String, _ values: [String: BusValue]) {
        guard case .text(let activeState)? = values["ActiveState"],
            case .text(let freezerState)? = values["FreezerState"],
            case .flag(let canFreeze)? = values["CanFreeze"]
        else { return nil }
        self.unit = unit
        self.activeState = activeState
        self.freezerState = freezerState
        self.canFreeze = canFreeze
        switch values["ControlGroup"] {
        case nil: controlGroup = ""
        case .text(let group)?: controlGroup = group
        default: return nil
        }
        switch values["WatchdogUSec"] {
        // The largest number is "infinity".
        case nil, .number(.max)?: watchdogMicroseconds = 0
        case .number(let interval)?: watchdogMicroseconds = interval
        default: return nil
        }
    }
}
