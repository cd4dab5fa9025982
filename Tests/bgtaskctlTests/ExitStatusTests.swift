import TaskAPI
import Testing
import TaskControl

@Suite struct ExitStatusTests {
    private func ended(_ outcome: Tasks.Outcome, status: Int? = nil, signal: String? = nil)
        -> Tasks.Task
    {
        Sample.task {
            $0.state = .ended
            $0.outcome = outcome
            guard status != nil || signal != nil else { return }
            var exit = Tasks.Exit()
            exit.status = status
            exit.signal = signal
            $0.exit = exit
        }
    }

    @Test("a command's own end gives its own status, 128+N for a signal")
    func own() {
        #expect(ExitStatus.status(of: ended(.completed, status: 0)) == 0)
        #expect(ExitStatus.status(of: ended(.completed)) == 0)
        #expect(ExitStatus.status(of: ended(.failed, status: 3)) == 3)
        #expect(ExitStatus.status(of: ended(.failed, signal: "SIGSEGV")) == 139)
        #expect(ExitStatus.reason(for: ended(.failed, status: 3)) == nil)
    }

    @Test("time that was up gives 124, whatever the command's status")
    func timeUp() {
        #expect(ExitStatus.status(of: ended(.expired, status: 0)) == 124)
        #expect(ExitStatus.status(of: ended(.overrun, signal: "SIGKILL")) == 124)
        #expect(
            ExitStatus.reason(for: ended(.overrun))
                == "task 7 overran its limit of 3min and was stopped")
    }

    @Test("what was not the command's doing gives 125 and a reason")
    func ours() {
        for outcome in [Tasks.Outcome.cancelled, .interrupted, .abandoned] {
            #expect(ExitStatus.status(of: ended(outcome, signal: "SIGTERM")) == 125)
            #expect(ExitStatus.reason(for: ended(outcome))?.contains(outcome.rawValue) == true)
        }
    }

    @Test("a command that could not be started gives 125 and says why")
    func notStarted() {
        var task = ended(.failed)
        task.reason = "no such file"
        #expect(ExitStatus.status(of: task) == 125)
        #expect(ExitStatus.reason(for: task) == "task 7 could not be started: no such file")
    }

    @Test("a status that no shell could show gives 125")
    func absurd() {
        #expect(ExitStatus.status(of: ended(.failed, status: .max)) == 125)
        #expect(ExitStatus.status(of: ended(.failed, signal: "SIGWHAT")) == 125)
    }
}
