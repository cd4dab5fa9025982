import Glibc
import Testing

@testable import LinuxSystem

extension LinuxTests {
    /// Whose the processes are that left their task's group.
    @Suite struct StrayClaimsTests {
        private static func claimant(
            _ number: Int, user: UInt32 = 5, beganAt: UInt64 = 10, commands: [Int32] = [],
            sessions: [UInt32] = [], isEnding: Bool = false
        ) -> StrayClaims.Claimant {
            StrayClaims.Claimant(
                groupName: "/tree/task-\(number)", user: user, beganAt: beganAt,
                commandIDs: commands, sessions: Set(sessions.map(AuditSession.init)),
                isEnding: isEnding)
        }

        private static func stray(
            _ processID: Int32 = 100, startTime: UInt64 = 20, top: Int32? = nil,
            topGroup: String = "/other", session: UInt32? = nil
        ) -> Stray {
            Stray(
                processID: processID, startTime: startTime, group: "/other",
                top: top ?? processID, topGroup: topGroup,
                session: session.map(AuditSession.init))
        }

        @Test("the audit session says it before the parents do")
        func session() {
            let claims = StrayClaims(
                [
                    Self.claimant(1, commands: [50], sessions: [7]),
                    Self.claimant(2, commands: [60], sessions: [8, 9]),
                ], tree: "/tree")
            #expect(claims.known(Self.stray(top: 50, session: 9)) == 1)
            #expect(claims.known(Self.stray(top: 60)) == 1)
            #expect(claims.known(Self.stray(top: 60, session: 12)) == 1)
            #expect(claims.known(Self.stray(topGroup: "/tree/task-1/below")) == 0)
            #expect(claims.known(Self.stray(topGroup: "/tree/task-10")) == nil)
            #expect(claims.known(Self.stray(session: 12)) == nil)
        }

        @Test("otherwise it is likely of the user's oldest task that goes on")
        func likely() {
            let claims = StrayClaims(
                [
                    Self.claimant(1, beganAt: 5, isEnding: true),
                    Self.claimant(2, beganAt: 15), Self.claimant(3, beganAt: 12),
                    Self.claimant(4, user: 34, beganAt: 1), Self.claimant(5, beganAt: 25),
                ], tree: "/tree")
            #expect(claims.likely(Self.stray(startTime: 20), of: 5) == 2)
            #expect(claims.likely(Self.stray(startTime: 11), of: 5) == 0)
            #expect(claims.likely(Self.stray(startTime: 4), of: 5) == nil)
            #expect(claims.likely(Self.stray(), of: 6) == nil)
        }
    }

    /// Those that fork and end faster than they are found.
    @Suite struct StrayChaseTests {
        private func stray(_ processID: Int32, in group: String = "/a/b.scope") -> Stray {
            Stray(
                processID: processID, startTime: 1, group: group, top: processID,
                topGroup: group, session: nil)
        }

        @Test("a group is held when looks have found others three times")
        func others() {
            var chase = StrayChase()
            for processID in Int32(1)...2 {
                chase.found([stray(processID)], of: 5)
                #expect(chase.frozenGroups.isEmpty)
            }
            chase.ranAhead(in: ["/user.slice/user-5.slice/session-1.scope"], of: 5)
            #expect(chase.frozenGroups == ["/a/b.scope", "/user.slice/user-5.slice"])
        }

        @Test("nobody is held still for those that cannot die")
        func unkillable() {
            var chase = StrayChase()
            for _ in 0..<20 { chase.found([stray(1), stray(2)], of: 5) }
            for _ in 0..<20 { chase.found([stray(2)], of: 5) }
            #expect(chase.frozenGroups.isEmpty)
        }

        @Test(
            "what has to stand still is the whole slice of a user",
            arguments: [
                (
                    "/user.slice/user-1000.slice/user@1000.service/app.slice",
                    "/user.slice/user-1000.slice"
                ),
                ("/user.slice/user-1000.slice", "/user.slice/user-1000.slice"),
                ("/user.slice/user-x.slice/a", "/user.slice/user-x.slice/a"),
                ("/system.slice/a.service", "/system.slice/a.service"),
                (unreadableGroup, "/user.slice/user-5.slice"),
            ])
        func places(group: String, place: String) {
            #expect(GroupFreeze.place(of: group, user: 5) == place)
        }
    }

    /// Groups that stand still for a moment.
    @Suite(.enabled(if: Kind.refusal == nil && geteuid() == 0))
    struct HoldTests {
        /// A task of another user in a group of its own.
        private struct Scene {
            let harness: Harness
            let task: any TaskProcesses
            let groupName: String
            let folder: String
            let session: AuditSession
            let record: FreezeRecord
            let recordPath: String

            init() throws {
                harness = try Harness(.cgroup)
                task = try harness.makeTask()
                _ = try task.start(
                    LaunchRequest(
                        arguments: ["sleep", "1000"], searchPath: "/usr/bin:/bin",
                        user: OtherUser.games))
                try harness.waitFor { [harness] in harness.startedProcessID != nil }
                guard case .group(let name) = task.homes[0] else { throw TimedOut(events: []) }
                groupName = name
                folder = try CgroupHierarchy.folder(ofGroup: name)
                let processID = try #require(harness.startedProcessID)
                session = try #require(AuditSession.ofCommand(processID))
                let state = try #require(harness.stateFolder).path
                record = FreezeRecord(stateFolder: state)
                recordPath = state + "/held"
            }

            func isFrozen() throws -> Bool {
                try contents(of: folder + "/cgroup.events").contains("frozen 1")
            }

            func end() throws {
                try task.kill()
                try harness.waitUntilGone(task)
                task.close()
            }
        }

        @Test("those of a session are killed, and the group goes on")
        func killed() throws {
            let scene = try Scene()
            let hold = try #require(GroupFreeze(scene.groupName))
            hold.kill([AuditSession(rawValue: scene.session.rawValue + 1_000_000)], scene.record)
            #expect(try !scene.task.processIDs().isEmpty)
            hold.kill([scene.session], scene.record)
            try scene.harness.waitUntilGone(scene.task)
            #expect(try !scene.isFrozen())
            #expect(access(scene.recordPath, F_OK) != 0)
            scene.task.close()
        }

        @Test("who has frozen a group already lets it go")
        func frozenByOthers() throws {
            let scene = try Scene()
            try writeText("1", to: scene.folder + "/cgroup.freeze")
            try scene.harness.waitFor { try scene.isFrozen() }
            #expect(!scene.record.freeze(scene.folder))
            try #require(GroupFreeze(scene.groupName)).kill([], scene.record)
            #expect(try scene.isFrozen())
            #expect(access(scene.recordPath, F_OK) != 0)
            try scene.end()
        }

        @Test("what a killed daemon held goes on with the next one")
        func leftover() throws {
            let scene = try Scene()
            #expect(scene.record.freeze(scene.folder))
            try scene.harness.waitFor { try scene.isFrozen() }
            let state = try #require(scene.harness.stateFolder).path
            try FreezeRecord(stateFolder: state).thawLeftover()
            try scene.harness.waitFor { try !scene.isFrozen() }
            #expect(access(scene.recordPath, F_OK) != 0)
            try FreezeRecord(stateFolder: state).thawLeftover()
            try scene.end()
        }

        @Test("a daemon that ends lets go, and holds nothing any more")
        func closed() throws {
            let scene = try Scene()
            #expect(scene.record.freeze(scene.folder))
            try scene.harness.waitFor { try scene.isFrozen() }
            scene.record.close()
            try scene.harness.waitFor { try !scene.isFrozen() }
            #expect(!scene.record.freeze(scene.folder))
            #expect(access(scene.recordPath, F_OK) != 0)
            try scene.end()
        }

        @Test("our own group and those around it are never held", arguments: ["", "/", "/.."])
        func own(name: String) throws {
            #expect(GroupFreeze(name) == nil)
            var own = try groupName(of: getpid()) ?? "/"
            while own != "/", !own.isEmpty {
                #expect(GroupFreeze(own) == nil)
                own = String(own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex))
            }
        }
    }
}
