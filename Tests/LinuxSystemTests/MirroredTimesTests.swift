import LinuxSystem
import TestKit
import Testing

/// What the executor is told of the times of a command, against an executor that fires by itself.
@Suite("Times that are mirrored")
struct MirroredTimesTests {
    private static func times(_ handlerAt: UInt64, _ limitAt: UInt64 = 1000) -> CommandTimes {
        CommandTimes(handlerAt: handlerAt, limitAt: limitAt, notes: [])
    }

    @Test("are told when they change, and once")
    func told() {
        var mirrored = MirroredTimes(told: Self.times(10))
        #expect(mirrored.areInForce)
        let answer1 = mirrored.nextOrder(serial: 1)
        #expect(answer1 == nil)
        mirrored.want(Self.times(20))
        #expect(!mirrored.areInForce)
        let order = mirrored.nextOrder(serial: 1)
        #expect(order == MirroredTimes.Order(times: Self.times(20), fired: 0, isAgain: false))
        let answer2 = mirrored.nextOrder(serial: 2)
        #expect(answer2 == nil)
        #expect(!mirrored.areInForce)
        let answer3 = mirrored.answered(1, isTaken: true)
        #expect(answer3)
        #expect(mirrored.areInForce)
    }

    @Test("are told again where the handler had fired meanwhile, with the news of that")
    func refused() {
        var mirrored = MirroredTimes(told: Self.times(10))
        mirrored.want(Self.times(20))
        _ = mirrored.nextOrder(serial: 1)
        let answer4 = mirrored.answered(1, isTaken: false)
        #expect(answer4)
        let answer5 = mirrored.handlerFired(1)
        #expect(answer5)
        let answer6 = mirrored.handlerFired(1)
        #expect(!answer6)
        let order = mirrored.nextOrder(serial: 2)
        #expect(order == MirroredTimes.Order(times: Self.times(20), fired: 1, isAgain: true))
        // The answer to what was ordered before is not that to this.
        let answer7 = mirrored.answered(1, isTaken: true)
        #expect(!answer7)
        let answer8 = mirrored.answered(2, isTaken: true)
        #expect(answer8)
        #expect(mirrored.areInForce)
    }

    @Test("a warning stays due until the handler has fired, whatever changes beside it")
    func warning() {
        var mirrored = MirroredTimes(told: Self.times(10))
        mirrored.warn()
        mirrored.want(Self.times(0, 30))
        let first = mirrored.nextOrder(serial: 1)
        #expect(first?.times == Self.times(1, 30))
        mirrored.want(Self.times(0, 40))
        let second = mirrored.nextOrder(serial: 2)
        #expect(second?.times == Self.times(1, 40))
        let answer9 = mirrored.handlerFired(1)
        #expect(answer9)
        let answer10 = mirrored.answered(2, isTaken: true)
        #expect(answer10)
        #expect(mirrored.areInForce)
        let answer11 = mirrored.nextOrder(serial: 3)
        #expect(answer11 == nil)
    }

    /// An executor that has one command.
    private struct Model {
        var times: CommandTimes
        var fired: UInt32 = 0
        /// Reports on their way, and answers, in their order.
        var outbox: [Message] = []

        enum Message {
            case fired(UInt32)
            case answer(UInt64, isTaken: Bool)
        }

        mutating func take(_ order: MirroredTimes.Order, serial: UInt64) {
            guard order.fired == fired else {
                return outbox.append(.answer(serial, isTaken: false))
            }
            times = order.times
            if fired > 0, !order.isAgain { times.handlerAt = 0 }
            outbox.append(.answer(serial, isTaken: true))
        }

        mutating func fire(at now: UInt64) {
            guard times.handlerAt != 0, times.handlerAt <= now else { return }
            times.handlerAt = 0
            fired += 1
            outbox.append(.fired(fired))
        }
    }

    @Test("whatever comes between, the executor goes by them in the end")
    func random() {
        for seed in 0..<UInt64(Effort.choose(500, 50_000)) { run(seed) }
    }

    private func run(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var now: UInt64 = 100
        var model = Model(times: Self.times(150, 100_000))
        var mirrored = MirroredTimes(told: model.times)
        var wanted = model.times
        var (serial, inbox): (UInt64, [(MirroredTimes.Order, UInt64)]) = (0, [])
        var hasFired = false
        func hear() {
            guard !model.outbox.isEmpty else { return }
            switch model.outbox.removeFirst() {
            case .fired(let count):
                if mirrored.handlerFired(count) { hasFired = true }
            case .answer(let serial, let isTaken): _ = mirrored.answered(serial, isTaken: isTaken)
            }
            if hasFired {
                // The one who wants it knows that it has fired, and may want it again.
                wanted.handlerAt = Bool.random(using: &random) ? now + 50 : 0
                mirrored.want(wanted)
                hasFired = false
            }
        }
        func tell() {
            guard let order = mirrored.nextOrder(serial: serial + 1) else { return }
            serial += 1
            inbox.append((order, serial))
        }
        func obey() {
            guard !inbox.isEmpty else { return }
            let (order, serial) = inbox.removeFirst()
            model.take(order, serial: serial)
        }
        for _ in 0..<200 {
            switch Int.random(in: 0..<6, using: &random) {
            case 0: now += UInt64.random(in: 1...60, using: &random)
            case 1: obey()
            case 2: hear()
            case 3: tell()
            case 4: model.fire(at: now)
            default:
                if wanted.handlerAt != 0 { wanted.handlerAt += 30 }
                wanted.limitAt += 1
                mirrored.want(wanted)
            }
        }
        for _ in 0..<20 {
            tell()
            while !inbox.isEmpty { obey() }
            model.fire(at: 0)
            while !model.outbox.isEmpty { hear() }
        }
        #expect(mirrored.areInForce, "seed \(seed)")
        #expect(model.times == wanted, "seed \(seed)")
    }
}
