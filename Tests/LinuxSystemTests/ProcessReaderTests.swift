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

        /// Those that have said that they are there.
        private func waitForReaders(_ count: Int) throws -> [pid_t] {
            var found: [pid_t] = []
            while found.count < count {
                // The first look has one made.
                #expect(try ProcessStat(of: getpid()).parent == getppid())
                found = try LinuxSystem.names(inFolder: "/proc").compactMap { pid_t($0) }.filter {
                    guard (try? contents(of: "/proc/\($0)/comm")) == "bgtask-reader\n",
                        let maker = try? ProcessStat(of: $0).parent
                    else { return false }
                    return (try? ProcessStat(of: maker).parent) == getpid()
                }
                poll(nil, 0, 2)
            }
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
            kill(first, SIGCONT)
            kill(second, SIGSTOP)
            #expect(try ProcessStat(of: getpid()).parent == getppid())
            kill(second, SIGKILL)
            for _ in 1...3 { #expect(try ProcessStat(of: getpid()).parent == getppid()) }
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
