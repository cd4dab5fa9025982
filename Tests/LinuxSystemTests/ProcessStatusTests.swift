import CLinux
import Glibc
import LinuxSystem
import TestKit
import Testing

extension LinuxTests {
    /// What the kernel says of a process.
    @Suite struct ProcessStatusTests {
        /// A text that counts how often one of its bytes is looked at.
        private struct CountedText: RandomAccessCollection {
            final class Looks { var count = 0 }

            let bytes: [UInt8]
            let looks = Looks()

            var startIndex: Int { bytes.startIndex }
            var endIndex: Int { bytes.endIndex }
            subscript(index: Int) -> UInt8 {
                looks.count += 1
                return bytes[index]
            }
        }

        private static func text(name: String = "sh", groups: Int = 0) -> String {
            let list = (0..<groups).map { "\($0 + 4_000_000_000) " }.joined()
            return """
                Name:\t\(name)
                Uid:\t5\t0\t0\t0
                Groups:\t\(list)
                NSpid:\t4711\t12\t1
                CapBnd:\t000001ffffffffff
                NoNewPrivs:\t1
                Seccomp:\t2
                Seccomp_filters:\t3

                """
        }

        @Test(
            "what is asked for stands behind 65,536 groups, and each byte of them is looked at once"
        )
        func manyGroups() {
            let text = CountedText(bytes: Array(Self.text(groups: 65_536).utf8))
            let status = ProcessStatus(text)
            #expect(status.namespaceDepth == 3)
            #expect(status.capabilityBounds == 0x1ff_ffff_ffff)
            #expect(status.noNewPrivileges == 1)
            #expect(status.filterMode == 2)
            #expect(status.filterCount == 3)
            #expect(text.looks.count < text.bytes.count + 2000)
        }

        @Test(
            "a name says nothing of another line",
            arguments: ["NoNewPrivs:\t0", "a\u{600}", "\r", "\u{301}", "x\\nUid:\t0\t0\t0\t0"])
        func name(name: String) {
            #expect(ProcessStatus(Array(Self.text(name: name).utf8)).noNewPrivileges == 1)
        }

        @Test("what is not told is not known, and what is no number neither")
        func missing() {
            #expect(
                ProcessStatus(Array("Uid\nSeccomp:\nNoNewPrivs:\tx\n\nCapBnd".utf8))
                    == ProcessStatus([]))
        }

        @Test("this process is told of")
        func own() throws {
            let status = ProcessStatus(try readBytes("/proc/self/status"))
            #expect(status.noNewPrivileges == 0 || status.noNewPrivileges == 1)
            #expect(status.namespaceDepth ?? 0 > 0)
            #expect(status.capabilityBounds != nil)
        }

        /// How often this thread has read something.
        private func reads() throws -> Int {
            try #require(ProcessStat.readCount(contents(of: "/proc/thread-self/io")))
        }

        @Test("of the threads that a tracer keeps as zombies only some are looked at")
        func zombieThreads() throws {
            let threads = 600
            let tracer = try TracerOfZombies(threads: threads)
            var process = clx_process()
            let before = try reads()
            #expect(clx_process_read(tracer.traced, &process))
            #expect(try reads() - before < 100)
            // Its other threads may be alive.
            #expect(!clx_process_is_dead(&process))
        }

        /// Keeps a process whose threads have all ended.
        private final class TracerOfZombies {
            private let process: pid_t
            let traced: pid_t

            init(threads: Int) throws {
                var ends: [Int32] = [-1, -1]
                try #require(clx_pipe(&ends) == 0)
                let output = OwnedDescriptor(ends[0])
                defer { if ends[1] >= 0 { close(ends[1]) } }
                var actions = posix_spawn_file_actions_t()
                posix_spawn_file_actions_init(&actions)
                defer { posix_spawn_file_actions_destroy(&actions) }
                posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
                let words = [
                    try builtProgram("process-test-child"), "zombie-threads", "\(threads)",
                ]
                var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
                defer { for pointer in pointers { free(pointer) } }
                var process: pid_t = 0
                try #require(
                    posix_spawn(&process, words[0], &actions, nil, &pointers, environ) == 0)
                self.process = process
                close(ends[1])
                ends[1] = -1
                var bytes = [UInt8](repeating: 0, count: 16)
                let length = read(output.rawValue, &bytes, bytes.count)
                let text = String(decoding: bytes.prefix(max(length - 1, 0)), as: UTF8.self)
                traced = try #require(pid_t(text))
            }

            deinit {
                kill(process, SIGKILL)
                waitpid(process, nil, 0)
            }
        }
    }
}
