/// A unit of a service manager, by the place of its processes in the cgroup hierarchy.
package struct AdoptedUnit: Equatable, Sendable {
    /// Who made the unit, and freezes it.
    package enum Manager: Equatable, Sendable {
        case system
        /// The manager of the user with this uid.
        case user(UInt32)
    }

    /// The unit's name: `cooler.service`.
    package let name: String
    package let manager: Manager
    /// The folder of its group: `/sys/fs/cgroup/system.slice/cooler.service`.
    package let cgroupFolder: String
    /// Its group as /proc/PID/cgroup shows it: `/system.slice/cooler.service`.
    package let cgroupName: String

    package init(name: String, manager: Manager, cgroupFolder: String, cgroupName: String) {
        self.name = name
        self.manager = manager
        self.cgroupFolder = cgroupFolder
        self.cgroupName = cgroupName
    }
}

/// The unit that a group belongs to, by the rules of systemd (cg_path_get_unit and cg_path_get_user_unit of
/// its cgroup-util.c): the first name behind the slices. A unit may make groups of any name below its own, so
/// that a later name says nothing.
package struct UnitPath: Equatable {
    package let name: String
    package let manager: AdoptedUnit.Manager
    /// The group of the unit itself, as /proc/PID/cgroup would show it.
    package let group: String

    /// - Parameter group: as /proc/PID/cgroup shows it: `/system.slice/cooler.service/worker`.
    /// - Returns: `nil` where it is in no service and no scope.
    package init?(group: String) {
        let names = group.parts(between: "/")
        guard let first = Self.indexBehindSlices(names[...]) else { return nil }
        if let user = Self.managedUser(names[first]),
            let inner = Self.indexBehindSlices(names[(first + 1)...])
        {
            self.init(names, unitAt: inner, manager: .user(user))
        } else if Self.managedUser(names[first]) == nil || first == names.endIndex - 1 {
            self.init(names, unitAt: first, manager: .system)
        } else {
            return nil
        }
    }

    private init?(_ names: [Substring], unitAt index: Int, manager: AdoptedUnit.Manager) {
        let unit = Self.unescaped(names[index])
        guard Self.isUnit(unit, type: ".service") || Self.isUnit(unit, type: ".scope") else {
            return nil
        }
        name = unit
        self.manager = manager
        group = "/" + names[...index].joined(separator: "/")
    }

    /// Why a freeze of the unit would hold more than an application; `nil` where it would not.
    package var protection: String? {
        if name == "init.scope" { return "\(name) is the service manager itself" }
        guard manager == .system else { return nil }
        if name.hasPrefix("session-"), name.hasSuffix(".scope") {
            return "\(name) is a whole login session"
        }
        return name.hasPrefix("user@") ? "\(name) is the manager of all that a user runs" : nil
    }

    private static func indexBehindSlices(_ names: ArraySlice<Substring>) -> Int? {
        names.firstIndex { !isUnit(unescaped($0), type: ".slice") }
    }

    /// The uid in `user@1000.service`.
    private static func managedUser(_ name: Substring) -> UInt32? {
        guard name.hasPrefix("user@"), name.hasSuffix(".service") else { return nil }
        return UInt32(name.dropFirst("user@".count).dropLast(".service".count))
    }

    /// What could be taken for a file of the kernel has an underscore before it.
    private static func unescaped(_ name: Substring) -> String {
        String(name.hasPrefix("_") ? name.dropFirst() : name)
    }

    /// systemd.unit(5): up to 255 letters, digits and `:-_.\@`.
    private static func isUnit(_ name: String, type: String) -> Bool {
        name.hasSuffix(type) && name.utf8.count > type.utf8.count && name.utf8.count <= 255
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: ":-_.\\@".utf8.contains(byte)
                }
            }
    }
}
