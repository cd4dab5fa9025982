/// A call about one unit (org.freedesktop.systemd1(5)).
enum UnitRequest {
    case freeze(String)
    case thaw(String)
    case kill(String, signal: Int32)
    /// The object of a unit that is loaded.
    case find(String)
    /// The object of the unit that a process is in.
    case findUnit(ofProcess: UInt32)
    case property(String, interface: String, of: String, object: String)

    static let managerPath = "/org/freedesktop/systemd1"
    static let managerInterface = "org.freedesktop.systemd1.Manager"

    /// systemd.unit(5): the longest name of a unit, in bytes.
    private static let nameBytesMax = 255

    var method: String {
        switch self {
        case .freeze: "FreezeUnit"
        case .thaw: "ThawUnit"
        case .kill: "KillUnit"
        case .find: "GetUnit"
        case .findUnit: "GetUnitByPID"
        case .property(let name, _, _, _): "Get \(name)"
        }
    }

    var unit: String {
        switch self {
        case .freeze(let unit), .thaw(let unit), .kill(let unit, _), .find(let unit),
            .property(_, _, let unit, _):
            unit
        case .findUnit(let process): "process \(process)"
        }
    }

    /// Whether the name can be a unit's at all.
    ///
    /// The manager takes an empty name for the caller's own unit, and would freeze the daemon.
    var hasName: Bool {
        (1...Self.nameBytesMax).contains(unit.utf8.count) && !unit.utf8.contains(0)
    }

    /// The call for `connection`.
    func message(on connection: BusConnection) throws(SystemdError) -> BusMessage {
        if case .property(let name, let interface, _, let object) = self {
            let message = try connection.newCall(
                of: "Get", at: object, interface: "org.freedesktop.DBus.Properties")
            try message.append(interface)
            try message.append(name)
            return message
        }
        let message = try connection.newCall(
            of: method, at: Self.managerPath, interface: Self.managerInterface)
        if case .findUnit(let process) = self {
            try message.append(process)
            return message
        }
        try message.append(unit)
        if case .kill(_, let signal) = self {
            try message.append("all")
            try message.append(signal)
        }
        return message
    }
}
