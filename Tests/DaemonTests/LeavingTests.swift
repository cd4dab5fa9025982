import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// A process gets out of its task's group by asking somebody to whom root lent the right to move it.
@Suite(
    "A limit stops what has left its group",
    .enabled(if: geteuid() == 0 && ContainmentMode.whyNoCgroup == nil, "takes cgroups and root"))
struct LeavingTests {
    /// Holds a process by ptrace(2) until it is told to end.
    private final class Tracer {
        /// Seizes a process, and more that follows; then it says so and waits.
        private static func script(options: Int, then: String) -> String {
            """
            import ctypes, os, sys
            trace = ctypes.CDLL(None, use_errno=True).ptrace
            seize, detach = 0x4206, 17
            process = int(sys.argv[1])
            if trace(seize, process, 0, \(options)) != 0: sys.exit(1)
            \(then)
            print('holds it', flush=True)
            sys.stdin.read()
            """
        }

        /// Kills it, and keeps its end to itself.
        static let killed = script(options: 0, then: "os.kill(process, 9)")
        /// Has it stand still right after it has forked (PTRACE_O_TRACEFORK, VFORK, CLONE), and lets go of the child.
        static let forked = script(
            options: 0b1110,
            then: """
                print('waits', flush=True)
                os.waitpid(process, 0x40000000)
                child, _ = os.waitpid(-1, 0x40000000)
                trace(detach, child, 0, 0)
                """)

        private let child: Child
        private let said: String
        /// The writing end of its input.
        private let input: Int32

        init(_ script: String, of process: pid_t, as user: String, in folder: String) throws {
            let (file, pipe) = (folder + "/tracer.py", folder + "/hold")
            said = folder + "/said"
            try Files.write(script, to: file)
            #expect(mkfifo(pipe, 0o600) == 0)
            input = open(pipe, O_RDWR | O_CLOEXEC)
            child = try Child(
                "/bin/sh",
                [
                    "-c",
                    "exec setpriv --reuid=$5 --regid=$5 --clear-groups python3 -c \"$(cat \"$1\")\" $2 <$3 >$4",
                    "sh", file, "\(process)", pipe, said, user,
                ])
        }

        func wait(until line: String) throws {
            try eventually("the tracer says: \(line)") { Files.text(said).hasSuffix(line + "\n") }
        }

        deinit { close(input) }

        func end() { child.signal(SIGKILL) }
    }

    @Test(
        "a process whose end is kept back by a tracer holds up nobody, and ends when it is let go",
        arguments: ContainmentMode.available)
    func tracer(mode: ContainmentMode) throws {
        let daemon = try DaemonProcess.forEverybody(mode)
        let games = try daemon.connect(as: .games)
        let id = try games.submit(["sleep", "1000"])
        try games.waitForBegin(of: id)
        try eventually("it is told to run") { try games.show(id).pid != nil }
        let process = try #require(try games.show(id).pid)
        let tracer = try Tracer(
            Tracer.killed, of: pid_t(process), as: "games", in: daemon.folder.path)
        try tracer.wait(until: "holds it")
        // With a turn for each look at what cannot be reaped, nobody else had one.
        let backup = try daemon.connect(as: .backup)
        for _ in 0..<20 {
            let held = try backup.begin("quick")
            _ = try backup.ask(Tasks.End.self) { $0.id = held }
        }
        tracer.end()
        #expect(try games.ended(id).exit?.signal == "SIGKILL")
    }

    /// A user's daemon, with somebody outside.
    private struct Scene {
        let daemon: DaemonProcess
        let other: OtherGroup
        let client: VarlinkClient

        init(settings: String = "", as user: TestUser = .games) throws {
            daemon = try .forEverybody(.cgroup, settings: settings)
            other = try OtherGroup()
            client = try daemon.connect(as: user)
        }

        /// Submits a script that prints the pids of those that are to leave, and moves them.
        func submitLeaving(
            _ script: String, grace: Int = 300, as user: TestUser = .games
        ) throws -> (id: Int, left: [pid_t]) {
            let id = try client.submit(script: script) {
                $0.budget = Tasks.Budget(ms: 200_000, grace: grace)
            }
            try daemon.waitForOutput("ready\n", of: id, as: user)
            var left: [pid_t] = []
            try eventually("it says who is to leave", seconds: 60) {
                left = try daemon.text(of: id, as: user).split(separator: "\n").compactMap {
                    pid_t($0)
                }
                return !left.isEmpty
            }
            for processID in left { try other.take(processID) }
            return (id, left)
        }

        func waitForLog(_ text: String) throws {
            try eventually("the log says \(text); it says:\n\(daemon.log)", seconds: 60) {
                daemon.log.contains(text)
            }
        }

        /// Puts the program of the tests where all users can run it.
        func installChild() throws -> String {
            let child = daemon.folder.path + "/child"
            try Files.copy(Programs.path("process-test-child"), to: child)
            chmod(child, 0o755)
            return child
        }

        /// The end of a task, which an escape would put off for ever.
        func ended(_ id: Int) throws -> Tasks.Task {
            try eventually("task \(id) ends; the log:\n\(daemon.log)", seconds: 60) {
                try client.show(id).state == .ended
            }
            return try client.show(id)
        }
    }

    private static let main = "echo $$; echo ready; while :; do sleep 0.05; done"
    /// A child that outlives nothing but by leaving, and the word by which the main process ends.
    private static func child(_ start: String, then: String) -> String {
        """
        trap '' TERM HUP
        \(start)
        echo ready
        \(then)
        """
    }
    fileprivate static let stubborn =
        "sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 0.05; done'"

    @Test("a command that has left is killed at its hard limit, and its slot is free")
    func overrun() throws {
        let scene = try Scene(settings: "queue.slots = 1")
        let (id, left) = try scene.submitLeaving("trap '' TERM; " + Self.main)
        let next = try scene.client.submit(["true"])
        _ = try scene.client.ask(Tasks.SimulateExpiration.self) { $0.id = id }
        #expect(try scene.ended(id).outcome == .overrun)
        #expect(!left.contains(where: Processes.isAlive))
        #expect(try scene.ended(next).outcome == .completed)
        try scene.waitForLog("has left the group of its task")
    }

    @Test(
        "the first command of an executor leaves before anybody looks, and is killed all the same")
    func first() throws {
        let scene = try Scene()
        let executor = try #require(scene.daemon.executorID)
        let tracer = try Tracer(
            Tracer.forked, of: executor, as: "root", in: scene.daemon.folder.path)
        try tracer.wait(until: "waits")
        let file = scene.daemon.folder.path + "/pids"
        try Files.write("", to: file)
        chmod(file, 0o666)
        let id = try scene.client.submit(
            script: "trap '' TERM HUP; (sleep 1000) & echo $$ $! >\(file); wait"
        ) {
            $0.budget = Tasks.Budget(ms: 200_000, grace: 300)
        }
        try tracer.wait(until: "holds it")
        var left: [pid_t] = []
        try eventually("it runs") {
            left = Files.text(file).split(whereSeparator: \.isWhitespace).compactMap { pid_t($0) }
            return left.count == 2
        }
        for process in left { try scene.other.take(process) }
        tracer.end()
        _ = try scene.client.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try scene.ended(id).outcome == .cancelled)
        #expect(!left.contains(where: Processes.isAlive))
        try scene.waitForLog("has left the group of its task")
    }

    @Test("a command that has left gets the signal of its handler and of a cancel, once")
    func signalled() throws {
        let scene = try Scene()
        let (id, _) = try scene.submitLeaving(
            "trap 'echo got; exit 3' TERM; " + Self.main, grace: 60_000)
        _ = try scene.client.ask(Tasks.Cancel.self) { $0.id = id }
        let task = try scene.ended(id)
        #expect(task.outcome == .cancelled)
        #expect(task.exit?.status == 3)
        #expect(try scene.daemon.text(of: id, as: .games).hasSuffix("ready\ngot\n"))
    }

    @Test(
        "what a command leaves behind outside of its group is gone when its end is told",
        arguments: [
            LeavingTests.stubborn + " & sleep 1000 & ",
            // Nobody but the daemon is its parent when the command ends.
            "(setsid \(LeavingTests.stubborn) &)",
            "setsid setsid --fork \(LeavingTests.stubborn)",
        ])
    func descendants(start: String) throws {
        let scene = try Scene()
        let (id, left) = try scene.submitLeaving(
            Self.child(start, then: "until [ -e \"$0.go\" ]; do sleep 0.02; done; exit 0")
                .replacing("$0.go", with: Self.flag(scene)))
        try #require(left.count == 1)
        #expect(left.allSatisfy(Processes.isAlive))
        try Files.write("", to: Self.flag(scene))
        #expect(try scene.ended(id).outcome == .completed)
        #expect(!left.contains(where: Processes.isAlive))
        try scene.waitForLog("left the group of its task")
    }

    @Test("what is mounted on its folder in /proc does not hide it")
    func hidden() throws {
        let scene = try Scene()
        let (id, left) = try scene.submitLeaving(
            Self.child(
                "(setsid \(Self.stubborn) &)",
                then: "until [ -e \(Self.flag(scene)) ]; do sleep 0.02; done"))
        try #require(left.count == 1)
        let hidden = try HiddenProcess(left[0])
        try Files.write("", to: Self.flag(scene))
        #expect(try scene.ended(id).outcome == .completed)
        hidden.show()
        #expect(!Processes.isAlive(left[0]))
    }

    @Test("a dead one whose end a tracer keeps to itself does not keep its task")
    func tracedOrphan() throws {
        let scene = try Scene()
        let (id, left) = try scene.submitLeaving(
            Self.child("(setsid \(Self.stubborn) &)", then: "while :; do sleep 0.05; done"))
        try #require(left.count == 1)
        let tracer = try Tracer(
            Tracer.killed, of: left[0], as: "games", in: scene.daemon.folder.path)
        try tracer.wait(until: "holds it")
        try eventually("it is dead") { Processes.state(left[0]) == "Z" }
        _ = try scene.client.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try scene.ended(id).outcome == .cancelled)
        #expect(Processes.state(left[0]) == "Z")
        tracer.end()
    }

    @Test("a sibling that a command has made of itself is ended like its children")
    func siblings() throws {
        let scene = try Scene()
        let child = try scene.installChild()
        let (id, left) = try scene.submitLeaving("exec \(child) siblings 3 1 \(Self.flag(scene))")
        try #require(left.count == 3)
        #expect(left.allSatisfy(Processes.isAlive))
        try Files.write("", to: Self.flag(scene))
        #expect(try scene.ended(id).outcome == .completed)
        #expect(!left.contains(where: Processes.isAlive))
    }

    @Test("siblings that have ended are reaped while the command runs")
    func endedSiblings() throws {
        let scene = try Scene()
        let child = try scene.installChild()
        let id = try scene.client.submit(["\(child)", "siblings", "50", "0", Self.flag(scene)])
        try scene.daemon.waitForOutput("ready\n", of: id, as: .games)
        try eventually("the command alone is left", seconds: 60) {
            scene.daemon.executorID.map { Processes.children(of: $0).count } == 1
        }
        try Files.write("", to: Self.flag(scene))
        #expect(try scene.ended(id).outcome == .completed)
    }

    @Test("one in a group with a longer name than a path may have ends with its task")
    func deepGroup() throws {
        let scene = try Scene()
        let (id, left) = try scene.submitLeaving(
            Self.child("(setsid \(Self.stubborn) &)", then: "while :; do sleep 0.05; done"))
        try #require(left.count == 1)
        try scene.other.takeDeep(left[0])
        _ = try scene.client.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try scene.ended(id).outcome == .cancelled)
        #expect(!left.contains(where: Processes.isAlive))
    }

    private static func flag(_ scene: Scene) -> String { scene.daemon.folder.path + "/go" }

    @Test("one that has left lives as long as its task, whoever else ends meanwhile")
    func others() throws {
        let scene = try Scene()
        let (id, left) = try scene.submitLeaving(
            Self.child("(setsid \(Self.stubborn) &)", then: "while :; do sleep 0.05; done"))
        let backup = try scene.daemon.connect(as: .backup)
        for client in [backup, scene.client] {
            // The first of them is the occasion for a look at all.
            for script in ["true", "(setsid sleep 1000 &) ; true"] {
                #expect(try client.ended(client.submit(script: script)).outcome == .completed)
            }
        }
        #expect(left.count == 1)
        #expect(left.allSatisfy(Processes.isAlive))
        _ = try scene.client.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try scene.ended(id).outcome == .cancelled)
        #expect(!left.contains(where: Processes.isAlive))
    }

    private static let become = "setpriv --reuid=5 --regid=60 --clear-groups setsid"

    @Test("one that became another user is ended with its task, and not before")
    func otherUser() throws {
        let scene = try Scene(as: .root)
        let (id, left) = try scene.submitLeaving(
            Self.child("(\(Self.become) \(Self.stubborn) &)", then: "sleep 1000"), as: .root)
        #expect(left.count == 1)
        _ = try scene.client.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try scene.ended(id).outcome == .cancelled)
        #expect(!left.contains(where: Processes.isAlive))
    }

    /// Only root can get out of the session that the audit counts a task in.
    @Test("one of whom no task is left is killed")
    func stranger() throws {
        let scene = try Scene(as: .root)
        let leave = "sh -c 'echo 5 >/proc/self/loginuid; exec \"$@\"' sh"
        let (id, left) = try scene.submitLeaving(
            Self.child(
                "(\(leave) \(Self.become) \(Self.stubborn) &)", then: "sleep 1000"),
            as: .root)
        #expect(left.count == 1)
        let backup = try scene.daemon.connect(as: .backup)
        #expect(try backup.ended(backup.submit(["true"])).outcome == .completed)
        try eventually("it is killed", seconds: 60) { !left.contains(where: Processes.isAlive) }
        try scene.waitForLog("that had left the group of its task was killed")
        #expect(try scene.client.show(id).state == .running)
    }

    @Test("that processes have left is an entry about their owner, as others are")
    func allowance() throws {
        let scene = try Scene(settings: "limits.auditRatePerOwnerMax = 1\nqueue.slots = 30")
        let tasks = try (0..<10).map { _ in try scene.submitLeaving(Self.main).id }
        for id in tasks { _ = try scene.client.ask(Tasks.Cancel.self) { $0.id = id } }
        for id in tasks { _ = try scene.ended(id) }
        try scene.waitForLog("Entries about a user's tasks were not logged")
        let lines = scene.daemon.log.split(separator: "\n")
        #expect(lines.count { $0.contains("has left the group of its task") } < tasks.count)
    }

    @Test("a stop ends what has left, and does not wait for it in vain")
    func stopping() throws {
        let scene = try Scene()
        let (_, main) = try scene.submitLeaving("trap '' TERM; " + Self.main)
        let (_, child) = try scene.submitLeaving(
            Self.child("(setsid \(Self.stubborn) &)", then: "while :; do sleep 0.05; done"))
        scene.daemon.child.signal(SIGTERM)
        try eventually("the daemon ends", seconds: 60) { !scene.daemon.child.isRunning }
        #expect(!(main + child).contains(where: Processes.isAlive))
    }

    @Test("an application that has left is stopped for its freeze, goes on, and is terminated")
    func application() throws {
        let scene = try Scene(
            settings: "applications.suspendAfter = \"100ms\"\napplications.grace = \"300ms\"")
        let script = """
            trap '' TERM
            echo $$ > \(scene.daemon.folder.path)/pid; while :; do sleep 0.05; done
            """
        chmod(scene.daemon.folder.path, 0o777)
        try scene.client.register("app") { $0.command = ["sh", "-c", script] }
        _ = try scene.client.ask(Applications.Launch.self) { $0.id = "app" }
        var main: pid_t = 0
        try eventually("it runs") {
            let text = Files.text(scene.daemon.folder.path + "/pid")
            main = pid_t(text.split(separator: "\n").first ?? "") ?? 0
            return main > 0
        }
        try scene.other.take(main)
        _ = try scene.client.ask(Applications.EnterBackground.self) { $0.id = "app" }
        try eventually("it stands still: \(scene.daemon.log)", seconds: 60) {
            Processes.state(main) == "T"
        }
        _ = try scene.client.ask(Applications.Activate.self) { $0.id = "app" }
        try eventually("it goes on", seconds: 60) { Processes.state(main) != "T" }
        _ = try scene.client.ask(Applications.Terminate.self) { $0.id = "app" }
        try eventually("it is gone", seconds: 60) { !Processes.isAlive(main) }
    }

    @Test(
        "one that has left, and forks and ends faster than it is found, is killed with its task",
        arguments: ["", "setsid "])
    func chase(start: String) throws {
        let scene = try Scene()
        let child = try scene.installChild()
        let script = """
            sh -c 'echo $$
            until grep -q bgtaskd-test /proc/self/cgroup; do :; done
            exec \(child) hop'
            """
        let (id, left) = try scene.submitLeaving(
            Self.child("(\(start)\(script) &)", then: "while :; do sleep 0.05; done"))
        try eventually("it hops") { !left.contains(where: Processes.isAlive) }
        let events = scene.other.folder + "/cgroup.events"
        #expect(Files.text(events).contains("populated 1"))
        _ = try scene.client.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try scene.ended(id).outcome == .cancelled)
        // The kernel lets go of what is killed after the kill.
        try eventually("nothing of it is left") { Files.text(events).contains("populated 0") }
        #expect(Files.text(events).contains("frozen 0"))
        #expect(!Files.exists(scene.daemon.statePath + "/held"))
    }

    @Test("what tasks leave to the executor is reaped while they run", arguments: [50])
    func reaped(count: Int) throws {
        let scene = try Scene()
        let id = try scene.client.submit(
            script: """
                for i in $(seq \(count)); do (sleep 0.01 &); done; echo ready; sleep 1000
                """)
        try scene.daemon.waitForOutput("ready\n", of: id, as: .games)
        try eventually("the command alone is left", seconds: 60) {
            scene.daemon.executorID.map { Processes.children(of: $0).count } == 1
        }
        #expect(try scene.client.show(id).state == .running)
        _ = try scene.client.ask(Tasks.Cancel.self) { $0.id = id }
        #expect(try scene.ended(id).outcome == .cancelled)
    }
}
