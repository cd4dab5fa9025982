internal import Glibc

/// Where the machine's power comes from (systemd-ac-power(1) answers the same).
package enum PowerSource: Equatable, Sendable {
    /// A supply that is no battery is online: mains, USB, wireless.
    case supply(String)
    /// A battery of the machine is discharging, and no supply is online.
    case battery(String)
    /// There is a battery, or a supply that is not online, and no battery is discharging.
    case notDischarging
    /// The machine has no power supply that the kernel knows of.
    case unknown

    package var isExternal: Bool {
        if case .battery = self { false } else { true }
    }
}

/// The power supplies in /sys/class/power_supply (the kernel's sysfs-class-power).
///
/// A driver may ask the hardware for what is read, which takes some tens of milliseconds.
package struct PowerSupplies: Sendable {
    private let folder: String

    /// So many are looked at.
    private static let countMax = 64
    private static let bytesMax = 256

    /// - Parameter root: a folder that stands for /; empty for the machine's own.
    package init(root: String = "") {
        folder = root + "/sys/class/power_supply"
    }

    /// Reads what each supply says of itself now.
    ///
    /// Those of other devices, such as a mouse's battery, are not asked: that may take a radio's time. A
    /// supply that does not answer is passed over; a battery that does not say what it does is discharging.
    ///
    /// - Throws: where the folder is there and cannot be read.
    package func read() throws(SystemError) -> PowerSource {
        var source = PowerSource.unknown
        for name in try supplies() {
            guard let type = value("type", of: name), value("scope", of: name) != "Device" else {
                continue
            }
            if type == "Battery" {
                if source == .unknown { source = .notDischarging }
                if isDischarging(name) { source = .battery(name) }
            } else if let online = value("online", of: name), type != "USB" || !isGiving(name) {
                // 2 is online, too: with a voltage or current that can be set.
                if (Int(online) ?? 0) > 0 { return .supply(name) }
                if source == .unknown { source = .notDischarging }
            }
        }
        return source
    }

    private func supplies() throws(SystemError) -> [String] {
        do throws(SystemError) {
            return try Array(names(inFolder: folder).sorted().prefix(Self.countMax))
        } catch {
            // A kernel without such supplies, or a container without /sys.
            if error.errno == ENOENT { return [] }
            throw error
        }
    }

    private func isDischarging(_ name: String) -> Bool {
        guard value("present", of: name) != "0" else { return false }
        guard let status = value("status", of: name) else { return true }
        return status == "Discharging"
    }

    /// Whether all of a USB-C port's roles are to give power (the kernel's sysfs-class-typec).
    private func isGiving(_ name: String) -> Bool {
        let ports = "\(folder)/\(name)/device/typec"
        let roles = ((try? names(inFolder: ports)) ?? []).prefix(Self.countMax).compactMap {
            try? readText("\(ports)/\($0)/power_role", countMax: Self.bytesMax)
        }
        let words = roles.flatMap { $0.split(whereSeparator: \.isWhitespace) }
        return words.contains("[source]") && !words.contains("[sink]")
    }

    private func value(_ attribute: String, of name: String) -> String? {
        guard let text = try? readText("\(folder)/\(name)/\(attribute)", countMax: Self.bytesMax)
        else { return nil }
        return text.split(whereSeparator: \.isNewline).first.map(String.init)
    }
}
