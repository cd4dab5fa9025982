import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

/// Those who look at callers for the daemon are stopped in the middle of a look here, which is to it as if the kernel held them up.
@Suite(
    "Whoever looks at callers may be held up",
    .enabled(if: geteuid() == 0, "other users need root"), .timeLimit(.minutes(4)))
struct HeldLookTests {
    /// Has a process stand still when it opens the next file (ptrace(2)), until this is let go of.
    private final class Hold {
        private let folder: TemporaryFolder
        private let tracer: Child

        private static let script = """
            import ctypes, os, signal, sys
            trace = ctypes.CDLL(None, use_errno=True).ptrace
            seize, interrupt, go_on = 0x4206, 0x4207, 24
            openat = {'x86_64': '257', 'aarch64': '56'}[os.uname().machine]
            process = int(sys.argv[1])
            if trace(seize, process, 0, 1) != 0 or trace(interrupt, process, 0, 0) != 0:
                print('gone', flush=True)
                sys.exit(1)
            os.waitpid(process, 0)
            trace(go_on, process, 0, 0)
            print('ready', flush=True)
            os.waitpid(process, 0)
            while open(f'/proc/{process}/syscall').read().split()[0] != openat:
                trace(go_on, process, 0, 0)
                os.waitpid(process, 0)
            signal.pause()
            """

        init(of process: pid_t) throws {
            let folder = try TemporaryFolder()
            self.folder = folder
            let said = folder.path + "/said"
            tracer = try Child(
                "/bin/sh",
                [
                    "-c", "exec python3 -c \"$0\" $1 >$2", Self.script, "\(process)", said,
                ])
            try eventually("the tracer is ready") {
                ["ready\n", "gone\n"].contains(Files.text(said))
            }
        }

        deinit { tracer.signal(SIGKILL) }
    }

    /// Those who read for a daemon.
    private func readers(of daemon: DaemonProcess) -> [pid_t] {
        func parent(of process: pid_t) -> pid_t? {
            ProcessStat.fields(Processes.stat(process)).dropFirst().first.flatMap { pid_t($0) }
        }
        return Files.names("/proc").compactMap { pid_t($0) }.filter {
            Processes.name($0) == "bgtask-reader"
                && parent(of: $0).flatMap(parent(of:)) == daemon.processID
        }
    }

    /// Has a command of a user's run, by a connection that is looked at anew.
    ///
    /// - Returns: why it is refused.
    private func refusalOfCommand(
        _ daemon: DaemonProcess, as user: TestUser = .games
    ) throws -> RemoteError? {
        let client = try daemon.connect(as: user)
        do {
            #expect(try client.ended(client.submit(["true"])).outcome == .completed)
            return nil
        } catch ClientError.remote(let error) {
            return error
        }
    }

    @Test("nobody waits, and a user who does that too often has no commands run, until it is over")
    func held() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        #expect(readers(of: daemon).isEmpty)
        #expect(try refusalOfCommand(daemon, as: .backup) == nil)
        #expect(readers(of: daemon).count == 1)

        var holds: [pid_t: Hold] = [:]
        var refusal: RemoteError?
        while refusal == nil {
            // One that has not come to run yet leaves the look to another, and is held up by a later one.
            for reader in readers(of: daemon) where holds[reader] == nil {
                holds[reader] = try Hold(of: reader)
            }
            refusal = try refusalOfCommand(daemon)
            try #require(holds.count < 100)
        }
        #expect("\(refusal as Any)".contains("do not come back"), "\(refusal as Any)")
        #expect(holds.count >= 24)
        // It may do everything else, and others may do that too.
        let games = try daemon.connect(as: .games)
        #expect(try games.ask(Tasks.List.self).tasks?.isEmpty != false)
        holds[readers(of: daemon).first { holds[$0] != nil } ?? 0] = nil
        #expect(try refusalOfCommand(daemon, as: .backup) == nil)

        holds = [:]
        try eventually("those who look end, and commands of the user run again") {
            try readers(of: daemon).count == 1 && refusalOfCommand(daemon) == nil
        }
    }
}
