import BudgetCore
import DaemonShell
import Glibc
import LinuxSystem
import TestKit
import Testing
import Varlink

@Suite("Whose replies are made next")
struct ReplyRoundsTests {
    @Test("one connection of a user comes before the second of another with 900")
    func turns() throws {
        var rounds = ReplyRounds()
        let many = try (0..<900).map { _ in try Client.unconnected(countedFor: 1) }
        for client in many { rounds.add(client) }
        for client in many { rounds.add(client) }
        let one = try Client.unconnected(countedFor: 2)
        rounds.add(one)
        var order: [UInt32] = []
        while let next = rounds.next() { order.append(next.ownerUse.owner.rawValue) }
        #expect(order.count == 901)
        #expect(order.prefix(3).contains(2))
        #expect(rounds.isEmpty)
    }

    @Test("a turn is over when so much has been made, and what was too much is the next one's")
    func budget() throws {
        var rounds = ReplyRounds()
        for _ in 0..<10 { rounds.add(try Client.unconnected(countedFor: 1)) }
        #expect(!rounds.isFree)
        #expect(rounds.next() != nil)
        rounds.charge(ReplyRounds.turnMax * 3)
        #expect(rounds.next() == nil)
        for _ in 0..<2 {
            rounds.endTurn()
            #expect(rounds.next() == nil)
        }
        rounds.endTurn()
        #expect(rounds.next() != nil)
        rounds.endTurn()
        rounds.endTurn()
        rounds.charge(ReplyRounds.turnMax)
        #expect(rounds.next() == nil, "what a turn has left over is lost")
    }

    @Test("who has many events waiting takes no calls until they are fewer")
    func heldBack() throws {
        var rounds = ReplyRounds()
        let (one, other) = (OwnerID(rawValue: 1), OwnerID(rawValue: 2))
        rounds.count(5000, bytes: 5000, of: one)
        rounds.count(1, bytes: 5 << 20, of: other)
        #expect(rounds.holdsBack(one) && rounds.holdsBack(other))
        rounds.count(-1000, bytes: -1000, of: one)
        rounds.count(-1, bytes: -5 << 20, of: other)
        #expect(!rounds.holdsSomebodyBack)
    }

    @Test("the first of many instants is known after each change", arguments: 1...Effort.choose(20))
    func deadlines(seed: UInt64) {
        var random = seed
        func next(_ bound: UInt64) -> UInt64 {
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (random >> 33) % bound
        }
        var deadlines = Deadlines<UInt64>()
        var model: [UInt64: Instant] = [:]
        for _ in 0..<500 {
            let key = next(20)
            let instant = next(3) == 0 ? nil : Instant(nanoseconds: Int64(next(50)))
            deadlines[key] = instant
            model[key] = instant
            if next(2) == 0 { #expect(deadlines.first == model.values.min()) }
            let now = Instant(nanoseconds: Int64(next(50)))
            #expect(Set(deadlines.due(at: now)) == Set(model.filter { $0.value <= now }.keys))
        }
    }

    @Test("clients are listed in the order of their coming, whoever leaves")
    func list() throws {
        var list = ClientList()
        let all = try (0..<100).map { try Client.unconnected(countedFor: 1, number: $0) }
        for client in all {
            list.add(client)
            list.add(client)
        }
        for client in all where client.number % 3 != 0 { list.remove(client) }
        let left = all.filter { $0.number % 3 == 0 }
        #expect(list.all.map(\.number) == left.map(\.number))
        #expect(list.count == left.count)
        for client in left { list.remove(client) }
        list.remove(all[0])
        #expect(list.isEmpty && list.all.map(\.number) == [])
    }
}
