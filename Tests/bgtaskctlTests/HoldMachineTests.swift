import TaskAPI
import Testing
import TaskControl

@Suite struct HoldMachineTests {
    private func machine(_ events: HoldMachine.Event...) -> HoldMachine {
        var subject = HoldMachine.Subject()
        subject.id = 7
        subject.command = "make"
        subject.budget = Sample.budget(180_000, 5000)
        var machine = HoldMachine(subject)
        for event in events { _ = machine.handle(event) }
        return machine
    }

    @Test("at the handler's time the command gets its signal and one line says so")
    func expires() {
        var held = machine()
        #expect(
            held.handle(.expired(reason: "its budget is spent", leftMs: 4990)) == [
                .say(
                    "task 7 was warned (its budget is spent): sent SIGTERM to make; "
                        + "it is killed in 5s"), .signal,
            ])
        #expect(held.state == .warned)
    }

    @Test("a command that ends in its grace ends with 124")
    func endsInGrace() {
        var held = machine(.expired(reason: nil, leftMs: nil))
        #expect(held.handle(.commandExited) == [.endTask])
        #expect(held.handle(.endAnswered(.expired)) == [])
        #expect(held.exitStatus(ofCommand: 0) == 124)
    }

    @Test("a command that ends in time ends with its own status")
    func endsInTime() {
        var held = machine()
        #expect(held.handle(.commandExited) == [.endTask])
        _ = held.handle(.endAnswered(.completed))
        #expect(held.exitStatus(ofCommand: 3) == 3)
    }

    @Test("at the limit the command is killed, and the status is 124")
    func overruns() {
        var held = machine(.expired(reason: nil, leftMs: nil))
        #expect(
            held.handle(.ended(.overrun, reason: nil)) == [
                .say("task 7 overran its limit of 3min: make is killed"), .kill,
            ])
        #expect(held.handle(.commandExited) == [])
        #expect(held.exitStatus(ofCommand: 137) == 124)
    }

    @Test("an extended budget fires its handler again")
    func extends() {
        var held = machine(.expired(reason: nil, leftMs: nil), .extended)
        #expect(held.state == .held)
        #expect(held.handle(.expired(reason: nil, leftMs: nil)).contains(.signal))
    }

    @Test("cancelled time gives the command its grace, then kills it, and the status is 125")
    func cancelled() {
        var held = machine()
        let actions = held.handle(.ended(.cancelled, reason: "maintenance"))
        #expect(actions.suffix(2) == [.signal, .killAfter(milliseconds: 5000)])
        #expect(held.handle(.killBecameDue) == [.kill])
        #expect(held.exitStatus(ofCommand: 0) == 125)
    }

    @Test("a lost daemon is the end of the time, once")
    func lost() {
        var held = machine()
        #expect(
            held.handle(.connectionLost("gone")).suffix(2) == [
                .signal, .killAfter(milliseconds: 5000),
            ])
        #expect(held.handle(.connectionLost("gone")) == [])
        #expect(held.exitStatus(ofCommand: 0) == 125)
    }

    @Test("an interruption after the handler has fired gives no second grace")
    func interrupted() {
        var held = machine(.expired(reason: "the daemon is stopping", leftMs: nil))
        #expect(held.handle(.ended(.interrupted, reason: nil)).last == .kill)
    }

    @Test("a command that gives its time back itself may go on")
    func returned() {
        var held = machine()
        #expect(held.handle(.ended(.completed, reason: nil)) == [])
        #expect(held.handle(.killBecameDue) == [])
        #expect(held.handle(.connectionLost("gone")) == [])
        #expect(held.handle(.commandExited) == [])
        #expect(held.exitStatus(ofCommand: 4) == 4)
    }

    @Test("time that could not be given back ends with 125")
    func notReturned() {
        let held = machine(.commandExited, .endAnswered(nil))
        #expect(held.exitStatus(ofCommand: 0) == 125)
    }
}
