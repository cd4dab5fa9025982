import CExecutor
import Glibc
import TestKit
import Testing

extension LinuxTests {
    /// What bgtask-executor takes for an order, and for a work: nothing else stands before a process with all rights.
    @Suite struct ExecutorRecordTests {
        private static func check(
            _ record: executor_record, descriptors: Int, length: Int? = nil
        ) -> Int32 {
            var (record, order) = (record, executor_record())
            return executor_check_order(
                &record, length ?? MemoryLayout<executor_record>.size, descriptors, &order)
        }

        private static func order(
            _ kind: executor_kind, _ fill: (inout executor_record) -> Void = { _ in }
        ) -> executor_record {
            var record = executor_record()
            record.magic = UInt32(EXECUTOR_MAGIC)
            record.version = UInt16(EXECUTOR_VERSION)
            record.kind = UInt16(kind.rawValue)
            record.serial = 1
            fill(&record)
            return record
        }

        private static let start = order(EXECUTOR_START) {
            ($0.command, $0.attempt, $0.number) = (1, 1, 15)
            ($0.handler_at, $0.limit_at, $0.grace) = (10, 20, 5)
        }

        @Test("a record has the same 192 bytes at both ends")
        func layout() {
            #expect(MemoryLayout<executor_record>.size == 192)
            #expect(MemoryLayout<executor_record>.offset(of: \.serial) == 8)
            #expect(MemoryLayout<executor_record>.offset(of: \.handler_at) == 48)
            #expect(MemoryLayout<executor_record>.offset(of: \.instance) == 96)
            #expect(MemoryLayout<executor_record>.offset(of: \.place) == 112)
            #expect(MemoryLayout<executor_record>.offset(of: \.supervisor) == 120)
            #expect(MemoryLayout<executor_record>.offset(of: \.reserved) == 124)
        }

        @Test("an order is refused by what is wrong with it")
        func refused() {
            #expect(Self.check(Self.start, descriptors: 1) == 0)
            #expect(Self.check(Self.start, descriptors: 0) == EBADF)
            #expect(Self.check(Self.start, descriptors: 2) == EBADF)
            #expect(Self.check(Self.start, descriptors: 1, length: 191) == EBADMSG)
            #expect(Self.check(Self.start, descriptors: 1, length: 193) == EBADMSG)
            var other = Self.start
            other.flags = EXECUTOR_WITH_INPUT.rawValue | EXECUTOR_WITH_KEPT.rawValue
            #expect(Self.check(other, descriptors: 3) == 0)
            func code(_ change: (inout executor_record) -> Void) -> Int32 {
                var record = Self.start
                change(&record)
                return Self.check(record, descriptors: 1)
            }
            #expect(code { $0.magic += 1 } == EBADMSG)
            #expect(code { $0.version = 2 } == EPROTONOSUPPORT)
            for kind in [0, 12, 33, 44, UInt16.max] { #expect(code { $0.kind = kind } == ENOSYS) }
            let wrong: [(inout executor_record) -> Void] = [
                { $0.serial = 0 }, { $0.command = 0 }, { $0.attempt = 0 },
                { $0.number = 65 }, { $0.flags = 4 }, { $0.pid = 1 }, { $0.code = 1 },
                { $0.zero = 1 }, { $0.handler_at = 21 }, { $0.limit_at = 1 << 63 },
                { $0.handler_at = .max }, { $0.grace = 1 << 63 }, { $0.moment = 1 },
                { $0.cpu_us = 1 }, { $0.memory_peak_bytes = 1 }, { $0.instance.1 = 1 },
                { $0.place = 1 }, { $0.supervisor = 1 }, { $0.reserved = 1 },
            ]
            for (index, change) in wrong.enumerated() {
                #expect(code(change) == EINVAL, "\(index)")
            }
            for kind in [EXECUTOR_LIST, EXECUTOR_DRAIN, EXECUTOR_EXIT] {
                #expect(Self.check(Self.order(kind), descriptors: 0) == 0)
                #expect(Self.check(Self.order(kind) { $0.command = 1 }, descriptors: 0) == EINVAL)
                let again = Self.order(kind) { $0.flags = EXECUTOR_AGAIN.rawValue }
                let isTaken = Self.check(again, descriptors: 0) == 0
                #expect(isTaken == (kind == EXECUTOR_EXIT))
            }
        }

        @Test("no byte of an order is without a meaning, and none is taken for another one's")
        func random() {
            var random = SeededGenerator(seed: 23)
            let orders = [
                Self.start, Self.order(EXECUTOR_HELLO) { $0.instance = (1, 2) },
                Self.order(EXECUTOR_SET_DEADLINES) { $0.command = 1 },
                Self.order(EXECUTOR_FORGET) { ($0.command, $0.attempt) = (1, 1) },
                Self.order(EXECUTOR_LIST),
            ]
            var taken = Set<UInt16>()
            for round in 0..<Effort.choose(200_000, 10_000_000) {
                var record = orders[round % orders.count]
                withUnsafeMutableBytes(of: &record) { bytes in
                    for _ in 0..<Int.random(in: 1...3, using: &random) {
                        let place = Int.random(in: 0..<bytes.count, using: &random)
                        bytes[place] = UInt8.random(in: 0...255, using: &random)
                    }
                }
                let descriptors = record.kind == EXECUTOR_START.rawValue ? 1 : 0
                guard Self.check(record, descriptors: descriptors) == 0 else { continue }
                taken.insert(record.kind)
                Self.expectMeaning(record)
            }
            for order in orders { #expect(taken.contains(order.kind)) }
        }

        /// What holds of every order that is taken.
        private static func expectMeaning(_ record: executor_record) {
            var record = record
            #expect(record.serial != 0 && record.pid == 0 && record.zero == 0)
            #expect(record.place == 0 && record.supervisor == 0 && record.reserved == 0)
            #expect(record.limit_at == 0 || record.handler_at <= record.limit_at)
            let isHello = record.kind == EXECUTOR_HELLO.rawValue
            #expect((record.instance.0 != 0 || record.instance.1 != 0) == isHello)
            let isStart = record.kind == EXECUTOR_START.rawValue
            if isStart { #expect((0...64).contains(record.number) && record.flags == 0) }
            let notes = withUnsafeBytes(of: &record.notes) { $0.contains { $0 != 0 } }
            #expect(!notes || isStart || record.kind == EXECUTOR_SET_DEADLINES.rawValue)
        }

        @Test(
            "a work is read whole or refused, however it is cut, and nothing behind it is looked at"
        )
        func work() throws {
            var work = ExecutorWork("printf", "%s", "")
            work.handler = ["true"]
            let bytes = work.bytes
            let page = Int(sysconf(Int32(_SC_PAGESIZE)))
            let memory = try #require(
                mmap(nil, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
            defer { munmap(memory, 2 * page) }
            mprotect(memory + page, page, PROT_NONE)
            /// Reads them where the next byte cannot be read.
            func read(_ bytes: [UInt8]) -> Int32 {
                let place = memory + page - bytes.count
                place.copyMemory(from: bytes, byteCount: bytes.count)
                var read = executor_work()
                defer { executor_work_free(&read) }
                let error = executor_work_read(place, bytes.count, &read)
                guard error == 0, let arguments = read.arguments else { return error }
                #expect(arguments[Int(read.header.argument_count)] == nil)
                return error
            }
            #expect(read(bytes) == 0)
            for count in 0..<bytes.count { #expect(read(Array(bytes[..<count])) == EBADMSG) }
            #expect(read(bytes + [0]) == EBADMSG)
            var random = SeededGenerator(seed: 7)
            for _ in 0..<Effort.choose(50_000, 2_000_000) {
                var mutant = bytes
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    mutant[Int.random(in: 0..<mutant.count, using: &random)] =
                        UInt8.random(in: 0...255, using: &random)
                }
                let error = read(mutant)
                #expect(error == 0 || error == EBADMSG)
            }
        }
    }
}
