import CLinux
import Glibc
import LinuxSystem
import TestKit
import Testing

extension LinuxTests {
    /// `clx_readers`, as a loop uses them.
    @Suite("What is read by processes of their own")
    struct ReaderTests {
        private final class Readers {
            let readers = UnsafeMutablePointer<clx_readers>.allocate(capacity: 1)
            private let maker: Int32
            let makerID: pid_t

            init() throws {
                var processID: pid_t = 0
                maker = clx_closers_begin(&processID)
                makerID = processID
                try #require(maker >= 0 && clx_readers_begin(readers) == 0)
            }

            deinit {
                clx_readers_end(readers)
                readers.deallocate()
                Glibc.close(maker)
            }

            func ask(_ question: clx_question) throws -> UInt64 {
                var question = question
                let number = clx_readers_ask(readers, &question, UInt64(MonotonicClock.now()))
                try #require(number != 0)
                return number
            }

            func employ() throws {
                let closer = clx_closer_make(maker)
                try #require(closer >= 0 && clx_readers_employ(readers, closer) == 0)
            }

            /// Looks when it is due, until something is so.
            func look(until isSo: () -> Bool) throws {
                let deadline = MonotonicClock.now() + Harness.millisecondsMax * 1_000_000
                while !isSo() {
                    try #require(MonotonicClock.now() < deadline)
                    var answers = pollfd(
                        fd: readers.pointee.questions.0, events: Int16(POLLIN), revents: 0)
                    poll(&answers, 1, max(0, min(clx_readers_next_look(readers), 20)))
                    if clx_readers_lack_process(readers, UInt64(MonotonicClock.now())) {
                        try employ()
                    }
                }
            }

            func hear() -> clx_answer? {
                var answer = clx_answer()
                return clx_readers_hear(readers, &answer) ? answer : nil
            }

            func answer() throws -> clx_answer {
                var answer: clx_answer?
                try look {
                    answer = hear()
                    return answer != nil
                }
                return try #require(answer)
            }
        }

        /// A question about this process.
        private func question(_ kind: clx_question_kind) -> clx_question {
            var question = clx_question()
            question.kind = kind
            question.count = 1
            question.pids.0 = getpid()
            return question
        }

        private func all(_ answer: clx_answer) -> [clx_looked] {
            let count = Int(answer.count)
            return withUnsafeBytes(of: answer.all) {
                Array($0.bindMemory(to: clx_looked.self).prefix(count))
            }
        }

        private func text<Bytes>(_ bytes: Bytes) -> String {
            withUnsafeBytes(of: bytes) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }

        @Test("processes are looked at by number, and one that is gone has none")
        func look() throws {
            let readers = try Readers()
            var look = question(CLX_ASKS_LOOK)
            look.count = 2
            look.pids.1 = pid_t.max
            let number = try readers.ask(look)
            let answer = try readers.answer()
            #expect(answer.number == number && answer.error == 0)
            let looked = all(answer)
            #expect(looked.map(\.process.pid) == [getpid(), 0])
            var own = clx_process()
            #expect(clx_process_read(getpid(), &own))
            #expect(looked[0].process.start_time == own.start_time)
            #expect(looked[0].process.parent == getppid())
            #expect(looked[0].user == getuid() && looked[0].runs_same_program)
        }

        @Test("all processes are told page by page, by rising number")
        func pages() throws {
            let readers = try Readers()
            var page = question(CLX_ASKS_PAGE)
            var numbers: [pid_t] = []
            repeat {
                _ = try readers.ask(page)
                let answer = try readers.answer()
                #expect(answer.error == 0)
                numbers += all(answer).map(\.process.pid)
                page.from = answer.next
            } while page.from != 0
            #expect(numbers.contains(getpid()) && numbers.contains(1))
            #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        }

        @Test("what a process reaches is what it sees itself, without its groups")
        func view() throws {
            let readers = try Readers()
            let look = question(CLX_ASKS_VIEW)
            _ = try readers.ask(look)
            let view = try readers.answer().view
            var own = clx_viewed()
            clx_view(0, "", &own)
            for viewed in [view, own] {
                #expect(viewed.process.pid == getpid())
                let links = [
                    ("user", viewed.user), ("mnt", viewed.mount), ("net", viewed.network),
                    ("pid", viewed.pid),
                ]
                for (name, namespace) in links {
                    var target = [CChar](repeating: 0, count: 64)
                    let count = readlink("/proc/self/ns/\(name)", &target, target.count)
                    let bytes = target.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }
                    let expected = String(decoding: bytes, as: UTF8.self)
                    #expect(text(namespace.name) == expected)
                }
                #expect(viewed.root.inode == own.root.inode && viewed.root_error == 0)
                let status = text(viewed.status)
                #expect(status.contains("\nCapBnd:") && status.contains("\nGid:"))
                #expect(!status.contains("Groups:") && status.utf8.count == viewed.status_length)
            }
        }

        @Test("of one in another user namespace nothing else is read")
        func otherNamespace() throws {
            let readers = try Readers()
            var look = question(CLX_ASKS_VIEW)
            withUnsafeMutableBytes(of: &look.user_namespace) { $0.copyBytes(from: "user:[1]".utf8) }
            _ = try readers.ask(look)
            let view = try readers.answer().view
            #expect(text(view.user.name).hasPrefix("user:["))
            #expect(view.mount.name.0 == 0 && view.status_length == 0)
        }

        @Test("where one is held up another answers, and those that are not needed end")
        func held() throws {
            let readers = try Readers()
            let look = question(CLX_ASKS_LOOK)
            _ = try readers.ask(look)
            _ = try readers.answer()
            let first = readers.readers.pointee.quick
            let held = try stopped(readers)
            #expect(held.count == 1)
            let number = try readers.ask(look)
            let answer = try readers.answer()
            #expect(answer.number == number && answer.error == 0 && answer.reader != first)
            #expect(answer.is_first)
            for process in held { kill(process, SIGCONT) }
            try readers.look { readers.readers.pointee.count == 1 }
            while let late = readers.hear() { #expect(!late.is_first) }
        }

        @Test("a question that nobody answers ends with an error")
        func unanswered() throws {
            let readers = try Readers()
            let look = question(CLX_ASKS_LOOK)
            let number = try readers.ask(look)
            var answer: clx_answer?
            let begin = MonotonicClock.now()
            var later = UInt64(begin)
            for _ in 0...CLX_READER_TRIES_MAX where answer == nil {
                later += UInt64(CLX_READER_HELD_UP_MS) << 6 * 1_000_000
                _ = clx_readers_lack_process(readers.readers, later)
                answer = readers.hear()
            }
            #expect(answer?.number == number && answer?.error == ETIMEDOUT)
            #expect(clx_readers_next_look(readers.readers) == -1)
        }

        @Test("no more are asked at once than can be")
        func tooMany() throws {
            let readers = try Readers()
            var look = question(CLX_ASKS_PAGE)
            for _ in 0..<CLX_QUESTIONS_MAX { _ = try readers.ask(look) }
            #expect(clx_readers_ask(readers.readers, &look, UInt64(MonotonicClock.now())) == 0)
            for _ in 0..<CLX_QUESTIONS_MAX { _ = try readers.answer() }
            #expect(readers.hear() == nil)
        }

        private func stopped(_ readers: Readers) throws -> [pid_t] {
            var processes = clx_processes()
            defer { clx_processes_free(&processes) }
            try #require(clx_processes_read(&processes) == 0)
            clx_processes_keep_descendants(&processes, readers.makerID, nil, 0)
            let numbers = UnsafeBufferPointer(start: processes.entries, count: processes.count)
                .map(\.pid)
            for number in numbers { kill(number, SIGSTOP) }
            return numbers
        }
    }
}
