import Glibc
import LinuxSystem
import Synchronization
import Testing

extension LinuxTests {
    /// Looking users up beside the loop.
    @Suite struct UserDatabaseTests {
        @Test("the system's users are found, and others are unknown")
        func systemDatabase() throws {
            let database = try UserDatabase()
            let nobody: UInt32 = 3_999_999_999
            for user in [0, 5, nobody] { database.request(user) }
            let answers = try waitForAnswers(3, from: database)
            #expect(answers[nobody] == .unknown)
            for user in [UInt32(0), 5] {
                guard case .found(let entry) = answers[user] else {
                    Issue.record("user \(user): \(String(describing: answers[user]))")
                    continue
                }
                let record = try #require(getpwuid(user)).pointee
                #expect(entry.name == String(cString: record.pw_name))
                #expect(entry.home == String(cString: record.pw_dir))
                #expect(entry.shell == String(cString: record.pw_shell))
            }
        }

        @Test("a look-up that hangs holds up no other")
        func hangingLookUp() throws {
            let gate = try Gate()
            let database = try UserDatabase { user in
                if user == 1 { gate.pass() }
                return .unknown
            }
            database.request(1)
            for user in UInt32(2)...40 { database.request(user) }
            let others = try waitForAnswers(39, from: database)
            #expect(others[1] == nil)
            gate.letThrough(1)
            #expect(try waitForAnswers(1, from: database)[1] == .unknown)
        }

        @Test("who is asked for again meanwhile is looked up and answered once")
        func sameUser() throws {
            let gate = try Gate()
            let count = Atomic(0)
            let database = try UserDatabase { _ in
                let number = count.add(1, ordering: .relaxed).newValue
                gate.pass()
                return .found(UserEntry(name: "\(number)", home: "", shell: ""))
            }
            for number in 1...2 {
                for _ in 0..<5 { database.request(7) }
                gate.letThrough(1)
                let expected = UserEntry(name: "\(number)", home: "", shell: "")
                #expect(try waitForAnswers(1, from: database) == [7: .found(expected)])
            }
            #expect(count.load(ordering: .relaxed) == 2)
        }

        @Test("at most 16 look-ups go on at once, and the others wait their turn")
        func threadsMax() throws {
            let gate = try Gate()
            let running = Atomic(0)
            let most = Atomic(0)
            let database = try UserDatabase { _ in
                most.max(running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
                gate.pass()
                running.subtract(1, ordering: .relaxed)
                return .unknown
            }
            for user in UInt32(0)..<100 { database.request(user) }
            try waitUntil { running.load(ordering: .relaxed) == UserDatabase.threadsMax }
            #expect(database.takeAnswers().isEmpty)
            gate.letThrough(100)
            #expect(try waitForAnswers(100, from: database).count == 100)
            #expect(most.load(ordering: .relaxed) == 16)
        }

        @Test("the thread that stays is one of them, though it may not have begun")
        func residentCounts() {
            var queue = LookUpQueue(threadsMax: UserDatabase.threadsMax)
            let helps = (UInt32(0)..<40).map { queue.request($0) }
            #expect(helps.count { $0 != .none } == 16)
            #expect(helps.count { $0 == .resident } == 1)
            // One that could not be started is made up for when somebody else is asked for.
            queue.didNotStart()
            #expect([queue.request(40), queue.request(41)] == [.another, .none])
            // So is the one that stays, when it has found nothing more to do.
            for user in UInt32(0)..<42 { #expect(queue.next(isResident: true) == user) }
            #expect(queue.next(isResident: true) == nil)
            #expect([queue.request(42), queue.request(43)] == [.resident, .none])
        }

        @Test("a database that goes away while look-ups hang leaves nothing, once they are done")
        func abandoned() throws {
            let gate = try Gate()
            let count = Atomic(0)
            let descriptor: Int32
            do {
                let database = try UserDatabase { _ in
                    count.add(1, ordering: .relaxed)
                    gate.pass()
                    return .unknown
                }
                descriptor = database.descriptor
                for user in UInt32(0)..<20 { database.request(user) }
                try waitUntil { count.load(ordering: .relaxed) == 16 }
            }
            #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
            gate.letThrough(16)
            try waitUntil { fcntl(descriptor, F_GETFD) == -1 }
            #expect(count.load(ordering: .relaxed) == 16)
        }

        @Test("no signal reaches the threads")
        func signals() throws {
            let database = try UserDatabase { _ in
                let status = (try? contents(of: "/proc/thread-self/status")) ?? ""
                return .found(UserEntry(name: status, home: "", shell: ""))
            }
            database.request(0)
            guard case .found(let entry) = try waitForAnswers(1, from: database)[0] else {
                Issue.record("no answer")
                return
            }
            // All but SIGKILL, SIGSTOP, SIGPROF and the two of the library.
            #expect(entry.name.contains("SigBlk:\tfffffffe7bfbfeff\n"), "\(entry.name)")
        }
    }
}

/// Holds threads up until they are let through.
private final class Gate: Sendable {
    private let reading: Int32
    private let writing: Int32

    init() throws {
        var pipe = try DescriptorPair.pipe(readsWithoutWaiting: false)
        reading = pipe.takeFirst().take()
        writing = pipe.takeSecond().take()
    }

    deinit {
        close(reading)
        close(writing)
    }

    func pass() {
        var byte: UInt8 = 0
        _ = read(reading, &byte, 1)
    }

    func letThrough(_ count: Int) {
        let bytes = [UInt8](repeating: 0, count: count)
        _ = write(writing, bytes, count)
    }
}

/// The next answers, by user.
private func waitForAnswers(
    _ count: Int,
    from database: UserDatabase
) throws -> [UInt32: UserDatabase.Answer] {
    var answers: [UInt32: UserDatabase.Answer] = [:]
    while answers.count < count {
        var ready = pollfd(fd: database.descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, Int32(Harness.millisecondsMax)) == 1 else {
            throw TimedOut(events: [])
        }
        for (user, answer) in database.takeAnswers() { answers[user] = answer }
    }
    #expect(answers.count == count)
    return answers
}
