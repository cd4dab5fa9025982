import BudgetCore
import TaskStore
import TestKit
import Testing

@Suite("Applications outlive the daemon, with all that is known of them")
struct ApplicationTests {
    private let folder: Folder
    private let store: TaskStore

    init() throws {
        folder = try Folder()
        store = try folder.open()
    }

    @Test("every field comes back after another opening", arguments: 1...Effort.choose(60, 1000))
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try Folder()
        let application = Samples.application(Samples.key(using: &random), using: &random)
        try folder.open().apply([.applicationSaved(application)])
        #expect(try folder.open().applications() == [application])
    }

    @Test("every callback and every reason comes back as itself")
    func words() throws {
        for callback in Callback.allCases {
            var application = Samples.application("a")
            application.registration.handles = Callbacks([callback])
            try store.apply([.applicationSaved(application)])
            #expect(try store.applications() == [application])
        }
        for reason in TerminationReason.allCases {
            var application = Samples.application("a")
            application.lastTermination = StoredTermination(at: Samples.time(1), reason: reason)
            try store.apply([.applicationSaved(application)])
            #expect(try store.applications() == [application])
        }
    }

    @Test("the words and numbers in the file are those that its layout explains")
    func layout() throws {
        var application = Samples.application("a")
        application.registration.handles = .all
        try store.apply([.applicationSaved(application)])
        let visitor = try Visitor(folder.database)
        let words = Callback.allCases.map { "\"\($0)\"" }.joined(separator: ",")
        #expect(try visitor.rows("SELECT handles FROM applications") == ["[\(words)]"])
        let table = try visitor.rows("SELECT sql FROM sqlite_schema WHERE name = 'applications'")
            .joined()
        for reason in TerminationReason.allCases {
            application.lastTermination = StoredTermination(at: Samples.time(1), reason: reason)
            try store.apply([.applicationSaved(application)])
            let number = try visitor.rows("SELECT termination_reason FROM applications").joined()
            #expect(table.contains("\(number) \(reason)"))
        }
        #expect(table.contains("-- One row an application, until it is unregistered."))
    }

    @Test("what a held task was granted is kept in milliseconds, its budget rounded up")
    func rounding() throws {
        var application = Samples.application("a")
        var end = StoredTermination(at: Samples.time(1), reason: .memoryPressure)
        end.background = .microseconds(1999)
        end.held = [
            HeldTask(
                id: TaskID(rawValue: 7), name: "sync", age: .microseconds(2999),
                duration: .microseconds(3001), grace: .microseconds(1999))
        ]
        application.lastTermination = end
        try store.apply([.applicationSaved(application)])
        let found = try #require(try store.applications().first?.lastTermination)
        #expect(found.background == .milliseconds(1))
        #expect(found.held.map(\.age) == [.milliseconds(2)])
        #expect(found.held.map(\.duration) == [.milliseconds(4)])
        #expect(found.held.map(\.grace) == [.milliseconds(1)])
    }

    @Test("they are listed by their owners and ids, each once, as they were saved last")
    func listed() throws {
        var later = Samples.application("b")
        try store.apply([
            .applicationSaved(later), .applicationSaved(Samples.application("a", owner: .max)),
            .applicationSaved(Samples.application("z", owner: 0)),
            .applicationSaved(Samples.application("a")),
        ])
        later.registration.command = nil
        later.badge = 3
        later.isRunning = true
        try store.apply([.applicationSaved(later)])
        #expect(
            try store.applications() == [
                Samples.application("z", owner: 0), Samples.application("a"), later,
                Samples.application("a", owner: .max),
            ])
    }

    @Test("one that is forgotten is gone, others of its name or owner stay, and twice does no harm")
    func forgotten() throws {
        let others = [Samples.application("a", owner: 0), Samples.application("b")]
        try store.apply((others + [Samples.application("a")]).map { .applicationSaved($0) })
        let forget = StoreChange.applicationForgotten(owner: OwnerID(rawValue: 1000), id: "a")
        try store.apply([forget])
        #expect(try store.applications() == others)
        try store.apply([forget])
        try store.close()
        #expect(try folder.open().applications() == others)
    }

    @Test("a store in memory has them as long as it is there")
    func inMemory() throws {
        let memory = try TaskStore.open(path: "", durability: .memory)
        let others = [Samples.application("a"), Samples.application("b")]
        try memory.apply(others.map { .applicationSaved($0) })
        try memory.apply([.applicationForgotten(owner: OwnerID(rawValue: 1000), id: "a")])
        #expect(try memory.applications() == [Samples.application("b")])
        #expect(try TaskStore.open(path: "", durability: .memory).applications() == [])
    }

    @Test(
        "a value that makes no sense is an error that names its row and column",
        arguments: [
            ("owner", "-1"), ("owner", "4294967296"), ("command", "player"), ("command", "[1]"),
            ("environment", "[]"), ("handles", "[\"willSleep\"]"), ("handles", "{}"),
            ("primary_gid", "-1"), ("supplementary_gids", "[4294967296]"),
            ("supplementary_gids", nil), ("units", "[\"a.service\"]"),
            ("units", "[{\"name\":\"a.service\",\"user\":-1}]"), ("units", "[{\"user\":1}]"),
            ("termination_reason", "9"), ("termination_reason", nil),
            ("exit_status", "4294967296"), ("exit_signal", "-4294967296"),
            ("held", "[{\"id\":-1,\"name\":\"a\",\"ageMs\":1}]"), ("held", "[{\"id\":1}]"),
            ("held", "[{\"id\":1,\"name\":\"a\",\"ageMs\":1,\"graceMs\":\"2\"}]"),
            ("held", "[{\"id\":1,\"name\":\"a\",\"ageMs\":1,\"durationMs\":null}]"),
            ("held", "7"),
        ] as [(String, String?)])
    func senseless(column: String, value: String?) throws {
        var application = Samples.application("a")
        application.registration.submitter.groups = SubmitterGroups(primary: 1, supplementary: [2])
        application.lastTermination = StoredTermination(at: Samples.time(1), reason: .exited)
        try store.apply([.applicationSaved(application)])
        let text = value.map { "'\($0)'" } ?? "NULL"
        try Visitor(folder.database).execute("UPDATE applications SET \(column) = \(text)")
        let error = #expect(throws: StoreError.self) { try store.applications() }
        #expect(error?.cause == .damaged)
        #expect(error?.mayHeal == false)
        #expect(error?.text.hasPrefix("the \(column) of application a of user ") == true)
    }
}
