import Glibc
import LinuxSystem
import Testing

/// One command's orders, of which one of each kind is under way.
@Suite("Orders that are owed")
struct OwedOrdersTests {
    @Test("one of each kind goes, and the next when that is answered")
    func oneByOne() {
        var owed = OwedOrders()
        for number in [SIGUSR1, SIGUSR2, SIGUSR1] { owed.want(signal: number) }
        owed.want(freeze: true)
        owed.wantKill()
        #expect(owed.next() == .kill)
        #expect(owed.next() == .signal(SIGUSR1))
        #expect(owed.next() == .freezing(true))
        owed.want(signal: SIGUSR1)
        owed.want(freeze: false)
        owed.wantKill()
        #expect(owed.next() == nil)
        owed.answered(.signal)
        #expect(owed.next() == .signal(SIGUSR2))
        #expect(owed.next() == nil)
        for kind in [OwedOrders.Kind.signal, .freezing, .kill] { owed.answered(kind) }
        #expect(owed.next() == .kill)
        #expect(owed.next() == .signal(SIGUSR1))
        #expect(owed.next() == .freezing(false))
    }

    @Test(
        "what is wanted again and again is sent a time for each answer, and the last of it counts")
    func joined() {
        var owed = OwedOrders()
        var sent: [OwedOrders.Order] = []
        for round in 0..<1000 {
            owed.want(signal: round % 2 == 0 ? SIGSTOP : SIGCONT)
            owed.want(freeze: round % 2 == 0)
            while let order = owed.next() { sent.append(order) }
        }
        #expect(sent == [.signal(SIGSTOP), .freezing(true)])
        owed.answered(.signal)
        owed.answered(.freezing)
        #expect(owed.next() == .signal(SIGCONT))
        #expect(owed.next() == .freezing(false))
    }

    @Test("at the end, and on another connection, no answer is waited for")
    func noAnswer() {
        var owed = OwedOrders()
        for number in [SIGUSR1, SIGUSR2, SIGHUP] { owed.want(signal: number) }
        #expect(owed.next() == .signal(SIGUSR1))
        owed.want(freeze: true)
        owed.connectionIsNew()
        // A freeze that has failed for who asked would stop what goes on.
        #expect(owed.next() == .signal(SIGUSR2))
        #expect(owed.next() == nil)
        #expect(owed.next(isLast: true) == .signal(SIGHUP))
        #expect(owed.next(isLast: true) == nil)
    }
}
