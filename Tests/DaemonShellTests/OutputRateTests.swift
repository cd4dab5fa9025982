import BudgetCore
import DaemonShell
import Testing

@Suite("How fast output is read")
struct OutputRateTests {
    private func share(_ bytesPerSecondMax: Int) -> OwnerOutput {
        OwnerOutput(
            of: OwnerID(rawValue: 1000), bytesPerSecondMax: bytesPerSecondMax,
            linesPerSecondMax: 1000)
    }

    @Test("tasks of an owner share one rate, however many they are, and take turns")
    func shared() throws {
        let scene = try OutputScene()
        let rate = 100_000
        let share = share(rate)
        let commands = try (1...5).map { try scene.command($0, share) }
        for second in 1...20 {
            try scene.read(at: Int64(second)) { for command in commands { command.flood() } }
            #expect(commands.reduce(0) { $0 + $1.readCount } == rate * second)
        }
        // Each as much as any other, but for what is read at once.
        let counts = commands.map(\.readCount)
        #expect((counts.max() ?? 0) - (counts.min() ?? 0) <= 2 * OutputPipe.readMax)
    }

    @Test("a stream is read at its own rate, where its owner has more")
    func ofOneStream() throws {
        let scene = try OutputScene()
        let command = try scene.command(1, share(.max))
        for second in 1...3 {
            let bytes = OutputPipe.bytesPerSecondMax * second
            try scene.read(at: Int64(second)) { if command.readCount <= bytes { command.flood() } }
            #expect(command.readCount == bytes)
        }
    }

    @Test("a rate that is not used up holds nobody up")
    func alone() throws {
        let scene = try OutputScene()
        let share = share(100_000)
        let (quiet, loud) = (try scene.command(1, share), try scene.command(2, share))
        try scene.read(at: 1) { loud.flood() }
        #expect(loud.readCount == 100_000)
        loud.end()
        quiet.print("a\n")
        // What one that has ended has left counts too, and is read all the same.
        try scene.read(at: 2)
        #expect(scene.pieces(of: quiet.id) == ["stdout: a\n"])
    }

    @Test("what is left in a pipe that nobody writes to is read at once, whatever the rate")
    func hungUp() throws {
        let scene = try OutputScene()
        let command = try scene.command(1, share(1000))
        command.flood()
        try scene.read(at: 1)
        #expect(command.readCount == 1000)
        command.end()
        // Else it would be told of again and again.
        try scene.read(at: 1)
        #expect(try !scene.scene.poll.poll())
        #expect(scene.pump.nextDeadline == nil)
        let log = try #require(scene.pump[command.id])
        #expect(log.end >= 65_536)
    }

    @Test("what is more than a limit counts in the next second, up to half of that")
    func debt() {
        var rate = Rate(perSecondMax: 10)
        func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
        #expect(rate.left(at(0)) == 10)
        rate.add(4)
        #expect(rate.left(at(500)) == 6 && rate.restUntil(at(500)) == nil)
        rate.add(9)
        #expect(rate.left(at(999)) == 0 && rate.restUntil(at(999)) == at(1000))
        #expect(rate.left(at(1000)) == 7 && rate.restUntil(at(1000)) == nil)
        rate.add(1000)
        #expect(rate.restUntil(at(1500)) == at(2000))
        #expect(rate.left(at(2000)) == 5)
        #expect(rate.left(at(9000)) == 10)
    }
}
