import CLinux
import Glibc
import LinuxSystem
import TestKit
import Testing

extension LinuxTests {
    @Suite("Looks at processes by processes of their own", .serialized)
    struct ProcessReaderTests {
        private let maker: CloserProcess.Maker
        private let readers: ProcessReaders

        init() throws {
            let maker = try CloserProcess.Maker()
            self.maker = maker
            readers = ProcessReaders { () throws(SystemError) in try maker.makeProcess() }
        }

        /// By the calling thread itself.
        private func readHere(_ path: String) throws -> String {
            clx_reader_end()
            defer { withExtendedLifetime(readers) {} }
            return String(decoding: try readOfProcess(path), as: UTF8.self)
        }

        @Test("they see what the thread itself would see")
        func same() throws {
            let own = getpid()
            let stat = try ProcessStat(of: own)
            #expect(stat.parent == getppid())
            #expect(try realUser(of: own) == getuid())
            let confinement = try ProcessConfinement.read(of: "self")
            var table = clx_processes()
            #expect(clx_processes_read(&table) == 0)
            #expect(clx_processes_find(&table, own)?.pointee.start_time == UInt64(stat.startTime))
            clx_processes_free(&table)
            var process = clx_process()
            #expect(clx_process_read(own, &process) == 1 && process.parent == getppid())
            #expect(clx_process_read(Int32.max, &process) == 0)
            #expect(throws: SystemError.self) { try ProcessStat(of: Int32.max) }
            let status = String(
                decoding: try readOfProcess("/proc/\(own)/status"), as: UTF8.self)
            #expect(status.hasPrefix("Name:") && status.contains("\nNSpid:"))
            #expect(status.contains("\nFDSize:") && !status.contains("\nGroups:"))

            let here = try readHere("/proc/\(own)/status")
            #expect(here.split(separator: "\n").count == status.split(separator: "\n").count)
            #expect(try ProcessStat(of: own).startTime == stat.startTime)
            #expect(try ProcessConfinement.read(of: "self") == confinement)
        }

        @Test(
            "one that is held up holds up nobody, and what it was asked is told to be unknown",
            .enabled(if: Lingering.possible.contains(.file), "there is no /dev/fuse"))
        func heldUp() throws {
            let file = try #require(try Lingering.file.file())
            let path = String(file.path.dropLast("/file".count))
            let folder = try OwnedDescriptor.open(path, flags: O_RDONLY | O_DIRECTORY)
            _ = try waitForReaders(1)
            for _ in 1...2 {
                // To close it waits.
                var error: SystemError?
                do throws(SystemError) {
                    _ = try readOfProcess("file", relativeTo: folder.rawValue)
                } catch let refusal {
                    error = refusal
                }
                #expect(error?.errno == ETIMEDOUT)
                #expect(try ProcessStat(of: getpid()).parent == getppid())
            }
        }

        /// Those that are there.
        private func waitForReaders(_ count: Int) throws -> [pid_t] {
            let children = "/proc/\(maker.processID)/task/\(maker.processID)/children"
            let bound = ContinuousClock.now + .seconds(60)
            var found: [pid_t] = []
            while found.count < count {
                try #require(ContinuousClock.now < bound)
                found = try contents(of: children).split(separator: " ").compactMap {
                    guard try contents(of: "/proc/\($0)/comm") == "bgtask-reader\n" else {
                        return nil
                    }
                    return pid_t($0)
                }
                poll(nil, 0, 2)
            }
            // What it says first is heard with the answer.
            #expect(try ProcessStat(of: getpid()).parent == getppid())
            return found
        }

        @Test(
            "where the one that is asked stands still, another answers, and the first when it goes on"
        )
        func another() throws {
            let first = try #require(try waitForReaders(1).first)
            kill(first, SIGSTOP)
            #expect(try ProcessStat(of: getpid()).parent == getppid())
            let second = try #require(try waitForReaders(2).first { $0 != first })
            kill(second, SIGSTOP)
            kill(first, SIGCONT)
            #expect(try ProcessStat(of: getpid()).parent == getppid())
            kill(second, SIGKILL)
            for _ in 1...3 { #expect(try ProcessStat(of: getpid()).parent == getppid()) }
        }

        @Test("where all stand still though the kernel holds none, the thread reads itself")
        func standingStill() throws {
            for reader in try waitForReaders(1) { kill(reader, SIGSTOP) }
            kill(maker.processID, SIGSTOP)
            #expect(try ProcessStat(of: getpid()).parent == getppid())
            kill(maker.processID, SIGCONT)
        }

        @Test("a process whose name looks like a line of its status is read whole")
        func name() throws {
            let harness = try Harness(.supervisor)
            let task = try harness.makeTask()
            let name =
                "import ctypes, time; ctypes.CDLL(None).prctl(15, b'x\\nGroups:'); print(1, flush=True); time.sleep(1000)"
            var process = try task.start(LaunchRequest(arguments: ["python3", "-c", name]))
            let output = Reader(process.takeStandardOutput())
            try harness.waitFor { try output.read().contains("\n") }
            let processID = try #require(harness.startedProcessID)
            #expect(try ProcessStat(of: processID).parent > 0)
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test(
            "where no process can be had, the thread reads itself"
        )
        func missing() throws {
            let none = ProcessReaders { () throws(SystemError) in
                throw SystemError(operation: "fork", errno: EAGAIN)
            }
            var process = clx_process()
            for _ in 1...1000 { #expect(clx_process_read(getpid(), &process) == 1) }
            withExtendedLifetime(none) {}
        }
    }
}
