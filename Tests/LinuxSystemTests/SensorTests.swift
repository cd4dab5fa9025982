import Foundation
import LinuxSystem
import Testing

extension LinuxTests {
    /// What /proc and /sys say, in a folder that stands for /.
    @Suite struct SensorTests {
        private let root: FakeRoot

        init() throws {
            root = try FakeRoot()
        }

        /// A folder that stands for /.
        private final class FakeRoot {
            let path: String

            init() throws {
                let url = FileManager.default.temporaryDirectory
                    .appendingPathComponent("sensor-test-\(UUID().uuidString)")
                path = url.path
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true)
            }

            deinit { try? FileManager.default.removeItem(atPath: path) }

            func write(_ text: String, to file: String) throws {
                let url = URL(fileURLWithPath: path + "/" + file)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: url)
            }

            func supply(_ name: String, _ attributes: [String: String]) throws {
                for (attribute, value) in attributes {
                    try write(value + "\n", to: "sys/class/power_supply/\(name)/\(attribute)")
                }
            }

            func power() throws -> PowerSource { try PowerSupplies(root: path).read() }
            func load() throws -> Load { try LoadProbe(root: path).read() }
        }

        @Test("a machine without power supplies is on external power")
        func noSupply() throws {
            #expect(try root.power() == .unknown)
            #expect(PowerSource.unknown.isExternal)
            try root.supply("hidpp_battery_0", ["type": "Battery", "scope": "Device"])
            #expect(try root.power() == .unknown)
        }

        @Test("a laptop is on battery while its battery is discharging and no supply is online")
        func laptop() throws {
            try root.supply("BAT0", ["type": "Battery", "status": "Discharging", "present": "1"])
            try root.supply("AC", ["type": "Mains", "online": "0"])
            #expect(try root.power() == .battery("BAT0"))
            #expect(try !root.power().isExternal)
            try root.supply("AC", ["online": "1"])
            #expect(try root.power() == .supply("AC"))
            // A weak charger: the battery goes down, and yet there is external power.
            try root.supply("AC", ["online": "0"])
            try root.supply("ucsi-source-psy", ["type": "USB", "online": "2"])
            #expect(try root.power() == .supply("ucsi-source-psy"))
        }

        @Test(
            "a battery that is not discharging is not what the machine runs on",
            arguments: ["Full", "Charging", "Not charging", "Unknown"])
        func notDischarging(status: String) throws {
            try root.supply("BAT0", ["type": "Battery", "status": status, "scope": "System"])
            #expect(try root.power() == .notDischarging)
            #expect(try root.power().isExternal)
        }

        @Test("a battery that does not say what it does is discharging, unless it is not there")
        func silentBattery() throws {
            try root.supply("BAT1", ["type": "Battery"])
            #expect(try root.power() == .battery("BAT1"))
            try root.supply("BAT1", ["present": "0"])
            #expect(try root.power() == .notDischarging)
        }

        @Test(
            "what gives power to others, and what belongs to another device, is no supply of ours")
        func others() throws {
            try root.supply("BAT0", ["type": "Battery", "status": "Discharging"])
            try root.supply("pad", ["type": "USB", "online": "1", "scope": "Device"])
            let port = "sys/class/power_supply/usb/device/typec/port0/power_role"
            try root.supply("usb", ["type": "USB", "online": "1"])
            try root.write("[source] sink\n", to: port)
            #expect(try root.power() == .battery("BAT0"))
            try root.write("source [sink]\n", to: port)
            #expect(try root.power() == .supply("usb"))
        }

        @Test("pressure, load and processors are what the kernel says")
        func load() throws {
            let pressure = "avg60=2.00 avg300=3.00 total=4\nfull avg10=9.00 avg60=0.00 total=0\n"
            try root.write("some avg10=1.25 " + pressure, to: "proc/pressure/cpu")
            try root.write("some avg10=34.00 " + pressure, to: "proc/pressure/io")
            try root.write("0.52 0.36 1.44 7/119 28308\n", to: "proc/loadavg")
            try root.write("0-3,8,10-11\n", to: "sys/devices/system/cpu/online")
            let expected = Load(cpuPressure: 1.25, ioPressure: 34, average: 0.52, processors: 7)
            #expect(try root.load() == expected)
        }

        @Test("without pressure there is the load alone, and without a load average an error")
        func noPressure() throws {
            #expect(throws: SystemError.self) { try root.load() }
            try root.write("nan 0 0\n", to: "proc/loadavg")
            #expect(throws: SystemError.self) { try root.load() }
            try root.write("3.00 0 0\n", to: "proc/loadavg")
            try root.write("some avg60=1\n", to: "proc/pressure/io")
            let load = try root.load()
            #expect((load.cpuPressure, load.ioPressure, load.average) == (nil, nil, 3))
            #expect(load.processors >= 1)
        }

        @Test(
            "odd lists of processors count as none known",
            arguments: ["", "x", "3-1", "99999999999"])
        func oddProcessors(list: String) throws {
            try root.write("3.00 0 0\n", to: "proc/loadavg")
            try root.write(list + "\n", to: "sys/devices/system/cpu/online")
            #expect(try root.load().processors == Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        }

        @Test("this machine can be read")
        func ownMachine() throws {
            #expect(try LoadProbe().read().processors >= 1)
            _ = try PowerSupplies().read()
        }

        @Test(
            "uevents of one subsystem are heard, and no others",
            .enabled(if: getuid() == 0, "a uevent is made by root"))
        func uevents() throws {
            let heard: UeventWatch
            let other: UeventWatch
            do {
                heard = try UeventWatch(subsystem: "mem")
                other = try UeventWatch(subsystem: "power_supply")
            } catch {
                #expect(error.errno == ENOTSUP)
                return
            }
            #expect(try !heard.read())
            try Data("change".utf8).write(to: URL(fileURLWithPath: "/sys/class/mem/null/uevent"))
            var ready = pollfd(fd: other.descriptor, events: Int16(POLLIN), revents: 0)
            #expect(poll(&ready, 1, 60_000) == 1)
            #expect(try heard.read())
            #expect(try !heard.read())
            #expect(try !other.read())
        }

        @Test("in a user namespace it is said that no uevents come")
        func noUevents() throws {
            let program = try builtProgram("process-test-daemon")
            let outcome = try Harness(.supervisor).run(
                "unshare", "--user", "--map-root-user", "--net", program, "uevents")
            guard !outcome.error.contains("unshare") else { return }
            #expect(outcome.output.contains("no uevents into a user namespace"))
            #expect(outcome.exit == .status(1))
        }
    }
}
