import BudgetCore
import DaemonShell
import TaskAPI
import Testing
import Varlink

@Suite("Who is told what happens")
struct SubscriptionTests {
    private let alice = OwnerID(rawValue: 1000)

    private func begin(_ scene: Scene, of owner: OwnerID) throws -> TaskID {
        let request = BeginRequest(name: "a", owner: owner, holder: HolderID(rawValue: 1))
        return try scene.core.update { registry, now, actions throws(Refusal) in
            try registry.begin(request, at: now, &actions)
        }
    }

    private func publish(_ happening: Happening, _ id: TaskID, _ scene: Scene) throws {
        let known = scene.core.registry.record(id)
        let record = try #require(known)
        scene.subscriptions.publish(happening, record)
    }

    @Test("a task's watcher, its owner's and the operator's are told, and nobody else")
    func whom() throws {
        let scene = try Scene()
        let (own, other) = (
            try begin(scene, of: alice), try begin(scene, of: OwnerID(rawValue: 1001))
        )
        let caller = Caller(owner: alice)
        let (one, all, root) = (
            try scene.caller(more: true), try scene.caller(more: true),
            try scene.caller(more: true)
        )
        scene.subscriptions.add(one.client, .task(own, withOutput: false, by: caller))
        scene.subscriptions.add(all.client, .tasks(.all, withOutput: false, by: caller))
        let seesAll = Caller(owner: .root, seesAll: true)
        scene.subscriptions.add(root.client, .tasks(.all, withOutput: false, by: seesAll))
        try publish(.extended, own, scene)
        try publish(.extended, other, scene)
        #expect(one.replies().count == 1)
        #expect(all.replies().count == 1)
        #expect(root.replies().count == 2)
        #expect(scene.subscriptions.areThere(for: other, of: OwnerID(rawValue: 1001)))
    }

    @Test("events are numbered from the first, and the end is the last of a task's own")
    func numbers() throws {
        let scene = try Scene()
        let id = try begin(scene, of: alice)
        let one = try scene.caller(more: true)
        scene.subscriptions.add(
            one.client, .task(id, withOutput: false, by: Caller(owner: alice)), told: 1)
        try publish(.extended, id, scene)
        try publish(.ended, id, scene)
        let replies = one.replies()
        #expect(replies.count == 2)
        #expect(replies.first?.contains(#""number":2"#) == true)
        #expect(replies.first?.contains(#""continues":true"#) == true)
        #expect(replies.last?.contains(#""number":3"#) == true)
        #expect(replies.last?.contains("continues") == false)
        #expect(one.client.openCall == nil)
        #expect(!scene.subscriptions.areThere(for: id, of: alice))
    }

    @Test("who is removed is told no more, and keeps nothing")
    func removed() throws {
        let scene = try Scene()
        let id = try begin(scene, of: alice)
        let subjects: [EventStream.Subject] = [
            .begun(id), .task(id, withOutput: true, by: Caller(owner: alice)),
            .tasks(.all, withOutput: false, by: Caller(owner: alice)),
            .tasks(.all, withOutput: false, by: Caller(owner: alice, seesAll: true)),
        ]
        for subject in subjects {
            let caller = try scene.caller(more: true)
            let stream = scene.subscriptions.add(caller.client, subject)
            #expect(scene.subscriptions.areThere(for: id, of: alice))
            scene.subscriptions.remove(caller.client, stream)
            #expect(!scene.subscriptions.areThere(for: id, of: alice))
            try publish(.extended, id, scene)
            #expect(caller.replies().isEmpty)
        }
    }

    @Test("output goes to those who asked for it, and a long line comes in pieces")
    func output() throws {
        let scene = try Scene()
        let id = try begin(scene, of: alice)
        let (with, without) = (try scene.caller(more: true), try scene.caller(more: true))
        scene.subscriptions.add(with.client, .task(id, withOutput: true, by: Caller(owner: alice)))
        scene.subscriptions.add(
            without.client, .task(id, withOutput: false, by: Caller(owner: alice)))
        scene.subscriptions.publishOutput(Array("one\n".utf8), .stdout, of: id)
        #expect(with.replies().first?.contains(#""text":"one""#) == true)
        #expect(without.replies().isEmpty)
    }
}
