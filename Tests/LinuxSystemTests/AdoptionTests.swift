import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// The adoption of processes that live in groups as a service manager makes them.
    @Suite(
        .enabled(if: ScratchSlice.canBeMade, "groups at the top of the hierarchy are made by root"))
    struct AdoptionTests {
        private let harness: Harness
        private let slice: ScratchSlice
        private let readers: WaitingReaders

        init() throws {
            readers = try WaitingReaders()
            readers.have(try CloserProcess.Maker().duplicate())
            harness = try Harness(.supervisor)
            slice = try ScratchSlice()
        }

        /// Starts a command, and moves its processes into a group.
        private func start(
            _ arguments: String..., in group: String, user: LaunchRequest.User? = nil,
            processes count: Int = 1
        ) throws -> (task: TestTask, processIDs: [Int32]) {
            let task = try harness.makeTask()
            _ = try task.start(LaunchRequest(arguments: arguments, user: user))
            try harness.waitFor {
                try harness.processID(of: task) != nil && task.processIDs().count == count
            }
            let processIDs = try task.processIDs()
            for processID in processIDs { try slice.move(processID, into: group) }
            return (task, processIDs)
        }

        private func end(_ tasks: TestTask...) throws {
            for task in tasks {
                try task.kill()
                try harness.waitUntilGone(task)
                task.close()
            }
        }

        private func refusal(
            of processIDs: [Int32], user: UInt32 = getuid()
        ) -> AdoptionRefusal? {
            do throws(AdoptionRefusal) {
                let adoption = try Adoption(processIDs: processIDs, user: user, by: readers)
                try harness.host.adopt(99, adoption, user: user).close()
                return nil
            } catch {
                return error
            }
        }

        private func adopt(
            _ processIDs: [Int32], user: UInt32 = getuid()
        ) throws -> AdoptedProcesses {
            try harness.host.adopt(
                7, Adoption(processIDs: processIDs, user: user, by: readers), user: user)
        }

        private func has(_ what: ProcessEvent.What) -> Bool {
            harness.events.contains(ProcessEvent(task: 7, what: what))
        }

        @Test("a service is adopted, seen frozen and thawed by its manager, and gone at its end")
        func service() throws {
            let (task, processIDs) = try start("sleep", "1000", in: "x.service")
            let adopted = try adopt(processIDs)
            defer { adopted.close() }
            #expect(
                adopted.units == [
                    AdoptedUnit(
                        name: "x.service", manager: .system,
                        cgroupFolder: slice.folder + "/x.service",
                        cgroupName: slice.name + "/x.service")
                ])
            #expect(adopted.freezer == .unit)
            #expect(try adopted.processIDs() == processIDs)
            #expect(!adopted.isFrozen)
            for frozen in [true, false] {
                try slice.freeze(frozen, "x.service")
                try harness.waitFor { has(.frozen(frozen)) }
                #expect(adopted.isFrozen == frozen)
            }
            #expect(!has(.gone))
            _ = try adopted.signal(SIGTERM)
            try harness.waitFor { has(.gone) }
            #expect(try adopted.processIDs().isEmpty)
            #expect(try adopted.signal(SIGTERM) == 0)
            try harness.waitUntilGone(task)
            #expect(harness.events.filter { $0.task == 7 }.last?.what == .gone)
            task.close()
        }

        @Test("what the given processes started is adopted with them, and the frozen are killed")
        func descendants() throws {
            let script = "sleep 1000 & sh -c 'sleep 1000 & wait' & wait"
            let (task, processIDs) = try start("sh", "-c", script, in: "y.scope", processes: 4)
            let first = try #require(harness.processID(of: task))
            let adopted = try adopt([first])
            defer { adopted.close() }
            #expect(try adopted.processIDs() == processIDs.sorted())
            try slice.freeze(true, "y.scope")
            try harness.waitFor { has(.frozen(true)) }
            try adopted.kill()
            try harness.waitFor { has(.gone) }
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test("processes of several units are frozen when all units are, and gone with the last")
        func severalUnits() throws {
            let (one, ones) = try start("sleep", "1000", in: "one.service")
            let (other, others) = try start("sleep", "1000", in: "other.scope")
            let adopted = try adopt(ones + others + ones)
            defer { adopted.close() }
            #expect(Set(adopted.units.map(\.name)) == ["one.service", "other.scope"])
            try slice.freeze(true, "one.service")
            var looks = 0
            try harness.waitFor {
                looks += 1
                return looks > 20
            }
            #expect(!adopted.isFrozen && !has(.frozen(true)))
            try slice.freeze(true, "other.scope")
            try harness.waitFor { has(.frozen(true)) }
            #expect(adopted.isFrozen)
            try end(one)
            #expect(!has(.gone))
            try end(other)
            try harness.waitFor { has(.gone) }
        }

        /// The kernel tells of a group at most once in 10 ms, and never of one that is removed within them.
        @Test("a unit that its manager removes at once is gone, though the kernel does not tell")
        func removedAtOnce() throws {
            for _ in 1...20 {
                let (task, processIDs) = try start("sleep", "1000", in: "quick.service")
                let adopted = try adopt(processIDs)
                defer { adopted.close() }
                try slice.freeze(true, "quick.service")
                try harness.waitFor { has(.frozen(true)) }
                try adopted.kill()
                // What the kernel tells of the thaw is read before the group is empty.
                while !slice.remove("quick.service") {
                    try harness.host.poll(into: &harness.events)
                }
                try harness.waitFor { has(.gone) }
                try harness.waitUntilGone(task)
                task.close()
                harness.events.removeAll { $0.task == 7 }
            }
        }

        @Test("the end of those that were given is the end, whatever else is left in the unit")
        func givenAreGone() throws {
            let (task, processIDs) = try start(
                "sh", "-c", "sleep 1000 & wait", in: "x.service", processes: 2)
            let first = try #require(harness.processID(of: task))
            let adopted = try adopt([first])
            #expect(kill(first, SIGKILL) == 0)
            try harness.waitFor { has(.gone) }
            let rest = try #require(processIDs.first { $0 != first })
            #expect(isAlive(rest))
            try end(task)
            adopted.close()
        }

        @Test("a unit that others live in is not adopted, and one of those is named")
        func strangers() throws {
            let (one, ones) = try start("sleep", "1000", in: "x.service")
            let (other, others) = try start("sleep", "1000", in: "x.service/deeper")
            let found = try #require(refusal(of: ones))
            #expect(found.processID == others.first)
            #expect(found.reason.contains("x.service too"))
            #expect(refusal(of: ones + others) == nil)
            try end(one, other)
        }

        @Test("a user's own processes alone are adopted, from the user's own units alone")
        func users() throws {
            let games = OtherUser.games
            let (theirs, their) = try start(
                "sleep", "1000", in: "user@5.service/app.slice/g.scope", user: games)
            #expect(refusal(of: their)?.reason == "user \(getuid()) has no such process")
            let adopted = try adopt(their, user: 5)
            #expect(adopted.units.map(\.manager) == [.user(5)])
            #expect(adopted.units.map(\.name) == ["g.scope"])

            let (ours, our) = try start(
                "sleep", "1000", in: "user@5.service/app.slice/ours.scope")
            #expect(refusal(of: our)?.reason.contains("a unit of user 5") == true)
            // What is added later gets no signal.
            try slice.move(our[0], into: "user@5.service/app.slice/g.scope")
            _ = try adopted.signal(SIGTERM)
            try harness.waitUntilGone(theirs)
            #expect(isAlive(our[0]))
            theirs.close()
            adopted.close()
            try end(ours)

            let script = "setpriv --reuid 5 --regid 60 --clear-groups sleep 1000 & wait"
            let (mixed, _) = try start("sh", "-c", script, in: "mixed.service", processes: 2)
            let first = try #require(harness.processID(of: mixed))
            try harness.waitFor {
                try mixed.processIDs().contains { try realUser(of: $0) == 5 }
            }
            #expect(refusal(of: [first])?.reason.contains("belongs to user 5") == true)
            try end(mixed)
        }

        @Test("what lives in no unit, or in one that holds more than an application, is refused")
        func protected() throws {
            for group in [
                "", "plain", "session-9.scope", "user@5.service", "user@0.service/init.scope",
                "user@0.service/app.slice",
            ] {
                let (task, processIDs) = try start("sleep", "1000", in: group)
                #expect(refusal(of: processIDs)?.processID == processIDs[0], "\(group)")
                try end(task)
            }
            // A kernel thread, where they can be seen.
            if geteuid() == 0, (try? contents(of: "/proc/2/comm")) == "kthreadd\n" {
                #expect(refusal(of: [2])?.reason.contains("no service") == true)
            }
        }

        @Test("an application lives in 16 units at most")
        func units() throws {
            let started = try (1...17).map { try start("sleep", "1000", in: "u\($0).scope") }
            let processIDs = started.flatMap(\.processIDs).sorted()
            let adopted = try adopt(Array(processIDs.dropLast()))
            #expect(adopted.units.count == 16)
            adopted.close()
            let refused = try #require(refusal(of: processIDs))
            #expect(refused.processID == processIDs.last)
            #expect(refused.reason.contains("16 units at most"))
            for (task, _) in started { try end(task) }
        }

        @Test("the thread answers one adoption after the other, and is started anew")
        func thread() throws {
            let (task, processIDs) = try start("sleep", "1000", in: "x.service")
            let thread = try AdoptionThread()
            let maker = try CloserProcess.Maker()
            for user in [getuid(), 4711, getuid()] {
                try thread.request(processIDs, user: user, maker.duplicate())
                var answer: AdoptionThread.Answer?
                try harness.waitFor {
                    answer = answer ?? thread.takeAnswer()
                    return answer != nil
                }
                switch try #require(answer) {
                case .success(let adoption): #expect(user == getuid() && adoption.units.count == 1)
                case .failure(let refusal): #expect(refusal.reason.contains("user 4711 has no"))
                }
                #expect(thread.takeAnswer() == nil)
            }
            try end(task)
        }

        @Test("no processes, too many, threads and those that ended are refused")
        func unusable() throws {
            #expect(refusal(of: [])?.processID == nil)
            #expect(refusal(of: Array(1...257))?.reason.contains("not 257") == true)
            #expect(refusal(of: [0])?.reason == "user \(getuid()) has no such process")
            #expect(
                refusal(of: [.max])?.description
                    == "process 2147483647: user \(getuid()) has no such process")
            let (task, processIDs) = try start("sleep", "1000", in: "x.service")
            try end(task)
            #expect(refusal(of: processIDs)?.reason == "user \(getuid()) has no such process")
        }
    }
}

extension Harness {
    /// Of the first command of a task that has been told to run.
    fileprivate func processID(of task: TestTask) -> Int32? {
        for event in events where event.task == task.identifier {
            if case .started(_, let processID) = event.what { return processID }
        }
        return nil
    }
}

/// A slice at the top of the cgroup hierarchy, with groups in it as a service manager makes them.
final class ScratchSlice {
    let folder: String
    let name = "/linuxsystemtest\(getpid()).slice"

    static let canBeMade: Bool =
        geteuid() == 0 && Kind.refusal == nil && (try? ScratchSlice()) != nil

    init() throws {
        folder = try CgroupHierarchy.folder(ofGroup: name)
        try systemCall("mkdir", folder) { mkdir(folder, 0o755) }
    }

    deinit {
        let group = try? Cgroup(folder: folder, name: "", makes: false)
        _ = try? group?.killAndWait(millisecondsMax: Harness.millisecondsMax)
        try? group?.removeSubgroups()
        try? group?.remove()
    }

    func move(_ processID: Int32, into group: String) throws {
        let place = group.isEmpty ? folder : folder + "/" + group
        try makeFolders(place, mode: 0o755)
        try writeText("\(processID)", to: place + "/cgroup.procs")
    }

    func freeze(_ frozen: Bool, _ group: String) throws {
        try writeText(frozen ? "1" : "0", to: "\(folder)/\(group)/cgroup.freeze")
    }

    /// Removes a group that is empty.
    ///
    /// - Returns: whether it was.
    func remove(_ group: String) -> Bool { rmdir("\(folder)/\(group)") == 0 }
}
