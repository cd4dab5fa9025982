import CLinux
import Glibc
import LinuxSystem
import Testing

extension LinuxTests {
    /// A group that was delegated to a daemon.
    @Suite(.enabled(if: Kind.refusal == nil && geteuid() == 0, "delegating a group needs root"))
    struct DelegationTests {
        @Test(
            "a daemon moves into a leaf of its group, and its tasks are beside it",
            arguments: ["", "/daemon"]
        )
        func leaf(start: String) throws {
            let group = try DelegatedGroup()
            // As with DelegateSubgroup=, which begins in the leaf.
            if !start.isEmpty { mkdir(group.folder + start, 0o755) }
            let state = try TemporaryFolder()
            let harness = try Harness(.supervisor)
            let task = try harness.makeTask()
            let enter = "echo $$ >\(group.folder)\(start)/cgroup.procs; exec \"$@\""
            var process = try task.start(
                LaunchRequest(arguments: [
                    "sh", "-c", enter, "sh", try builtProgram("process-test-daemon"), "hold",
                    "cgroup", state.path, "1", "sh", "-c", "echo; exec sleep 1000",
                ])
            )
            let output = Reader(process.takeStandardOutput())
            try harness.waitFor { try output.read().contains("\n") }
            #expect(output.text == "ready\n")

            #expect(try group.processes() == [])
            // It, its executor, and what closes, reads and removes for that.
            #expect(3...5 ~= (try group.processes(in: "/daemon").count))
            let tree = CgroupTree.name(stateFolder: state.path)
            let commands = try group.commands(in: tree)
            #expect(try commands.map { try group.processes(in: $0).count } == [1])
            try task.kill()
            try harness.waitUntilGone(task)
            task.close()
        }

        @Test("a user's word that a group is delegated is not root's")
        func mark() throws {
            let group = try DelegatedGroup()
            let name = "/linux-system-test-\(getpid())/marked"
            let folder = group.folder + "/marked"
            try systemCall("mkdir", folder) { mkdir(folder, 0o755) }
            try systemCall("setxattr", folder) { setxattr(folder, "user.delegate", "1", 1, 0) }
            let hierarchy = try CgroupHierarchy(
                mountInformation: contents(of: "/proc/self/mountinfo"),
                groups: "0::\(try CgroupHierarchy().ownName)\(name)\n")
            try #require(hierarchy.ownFolder == folder)
            try hierarchy.checkDelegated()
            try systemCall("chown", folder) { chown(folder, 5, 5) }
            #expect(throws: ContainmentRefusal.self) { try hierarchy.checkDelegated() }
        }

        @Test("what is left in a tree is found by what was written down of it, and killed")
        func record() throws {
            let harness = try Harness(.cgroup)
            let tree = try #require(harness.tree)
            let state = harness.stateFolder
            let record = TreeRecord(stateFolder: state.path)
            #expect(try record.killLeftovers().count == 0)
            try record.write(tree)
            let task = try harness.makeTask()
            _ = try task.start(LaunchRequest(arguments: ["sleep", "1000"]))
            try harness.waitFor { harness.startedProcessID != nil }

            let leftovers = try record.killLeftovers()
            #expect(leftovers.count == 1 && leftovers.group == tree.folder)
            try CloserProcess.Maker().removeNow(tree.folder)
            #expect(access(tree.folder, F_OK) != 0)
            #expect(try record.killLeftovers().count == 0)
            try record.write(nil)
            #expect(access(state.path + "/group", F_OK) != 0)
            task.close()
        }

        @Test("a record that names another's group is not followed")
        func foreignRecord() throws {
            let state = try TemporaryFolder()
            let group = try DelegatedGroup()
            let sleeper = try Harness(.supervisor)
            let task = try sleeper.makeTask()
            let enter = "echo $$ >\(group.folder)/cgroup.procs; echo; exec sleep 1000"
            var process = try task.start(LaunchRequest(arguments: ["sh", "-c", enter]))
            let output = Reader(process.takeStandardOutput())
            try sleeper.waitFor { try output.read().contains("\n") }

            let flags = O_WRONLY | O_CREAT
            let file = try OwnedDescriptor.open(
                state.path + "/group", flags: flags, mode: 0o600)
            try writeText(group.folder + "\n", of: file.rawValue, "group")
            #expect(try TreeRecord(stateFolder: state.path).killLeftovers().count == 0)
            #expect(try group.processes().count == 1)
            try task.kill()
            try sleeper.waitUntilGone(task)
            task.close()
        }
    }

    /// The lock of a daemon that was killed while it started a command, which has inherited it.
    @Suite struct InheritedLockTests {
        @Test("a lock whose owner is gone is waited for")
        func inherited() throws {
            let folder = try TemporaryFolder()
            let path = folder.path + "/lock"
            let harness = try Harness(.supervisor)
            // No process has this number (PID_MAX_LIMIT).
            let hold = "echo \(Int32.max) >\(path); exec flock \(path) sh -c 'echo; exec sleep 0.3'"
            let task = try harness.makeTask()
            var process = try task.start(LaunchRequest(arguments: ["sh", "-c", hold]))
            let output = Reader(process.takeStandardOutput())
            try harness.waitFor { try output.read().contains("\n") }
            _ = try StateLock(folder: folder.path)
            try harness.waitUntilGone(task)
            task.close()
        }
    }
}
