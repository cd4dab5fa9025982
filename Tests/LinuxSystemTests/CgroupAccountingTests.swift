import Glibc
import Testing

@testable import LinuxSystem

extension LinuxTests {
    /// What a group's files say, whatever that is. The files of a group with a memory controller are
    /// ordinary ones here, since few machines of developers let a test have one.
    @Suite struct CgroupAccountingTests {
        private final class Group {
            private let place: TemporaryFolder
            let folder: OwnedDescriptor

            var path: String { place.path }

            init(_ files: [String: String] = [:]) throws {
                place = try TemporaryFolder()
                folder = try .open(place.path, flags: O_RDONLY | O_DIRECTORY)
                for (name, text) in files { try write(text, to: name) }
            }

            deinit {
                for name in ["cpu.stat", "memory.peak", "memory.current"] {
                    unlink("\(path)/\(name)")
                }
            }

            func write(_ text: String, to name: String) throws {
                let flags = O_WRONLY | O_CREAT | O_TRUNC
                let file = try OwnedDescriptor.open("\(path)/\(name)", flags: flags, mode: 0o600)
                try writeText(text, of: file.rawValue, name)
            }

            func meter() -> CgroupAccounting { CgroupAccounting(folder: folder.rawValue) }
        }

        @Test("each task has what was used since its begin")
        func differences() throws {
            let group = try Group(["cpu.stat": "usage_usec 500\nuser_usec 1\n"])
            let meter = group.meter()
            meter.begin()
            try group.write("x usage_usec 9\nusage_usec_x 9\nusage_usec 700\n", to: "cpu.stat")
            #expect(meter.read() == ProcessUse(cpuMicroseconds: 200))
            #expect(meter.end() == ProcessUse(cpuMicroseconds: 200))
            meter.begin()
            try group.write("usage_usec 701\n", to: "cpu.stat")
            #expect(meter.end() == ProcessUse(cpuMicroseconds: 1))
        }

        @Test(
            "an odd file tells nothing, and the next task is counted again",
            arguments: [
                "", "rubbish", "usage_usec", "usage_usec -1\n", "usage_usec 99999999999999999999\n",
                "usage_usec 4\n", "\u{0}\n\n \n",
            ]
        )
        func oddFiles(text: String) throws {
            let group = try Group(["cpu.stat": "usage_usec 5\n"])
            let meter = group.meter()
            meter.begin()
            try group.write(text, to: "cpu.stat")
            #expect(meter.end() == nil)
            try group.write("usage_usec 100\n", to: "cpu.stat")
            meter.begin()
            try group.write("usage_usec 130\n", to: "cpu.stat")
            #expect(meter.end() == ProcessUse(cpuMicroseconds: 30))
        }

        @Test("without the files nothing is known")
        func noFiles() throws {
            let group = try Group()
            let meter = group.meter()
            meter.begin()
            #expect(meter.read() == nil)
            #expect(meter.end() == nil)
            #expect(meter.prepareForNext())
        }

        @Test("a peak begins anew for the next task where the kernel can do that")
        func peak() throws {
            let group = try Group(["cpu.stat": "usage_usec 0\n", "memory.peak": "0\n"])
            let meter = group.meter()
            meter.begin()
            try group.write("5000\n", to: "memory.peak")
            #expect(meter.end()?.memoryPeakBytes == 5000)
            try group.write("4194304\n", to: "memory.current")
            #expect(meter.prepareForNext())
            // An ordinary file has what was written; the kernel's has a new peak.
            #expect(try contents(of: group.path + "/memory.peak") == "0000\n")
            meter.begin()
            try group.write("rubbish\n", to: "memory.peak")
            #expect(meter.end() == ProcessUse(cpuMicroseconds: 0))
        }

        @Test("where it cannot, the group is good for one task alone")
        func noReset() throws {
            let group = try Group(["memory.peak": "0\n", "memory.current": "0\n"])
            let meter = CgroupAccounting(folder: group.folder.rawValue, resetsPeak: false)
            #expect(meter.prepareForNext())
            try group.write("1\n", to: "memory.peak")
            #expect(!meter.prepareForNext())
        }

        @Test(
            "much in the page cache does not count for the next task",
            arguments: ["4194305\n", "max\n", ""]
        )
        func leftovers(text: String) throws {
            let group = try Group(["memory.peak": "1\n", "memory.current": text])
            #expect(!group.meter().prepareForNext())
        }
    }
}
