import Glibc
import JSON
import TaskAPI
import Testing
import Varlink

/// Several users at one daemon, with tasks of every kind.
final class UsersAtWork {
    /// An id that no task will have here.
    static let never = 888_888_888

    let daemon: DaemonProcess
    /// Each user's connection, which holds what they begin.
    private var holders: [UInt32: VarlinkClient] = [:]

    init(settings: String = "") throws {
        daemon = try .forEverybody(
            .supervisor, settings: DaemonProcess.staffOperates + "queue.slots = 500\n" + settings)
    }

    func client(of user: TestUser) throws -> VarlinkClient {
        if let known = holders[user.user] { return known }
        let client = try daemon.connect(as: user)
        holders[user.user] = client
        return client
    }

    /// Makes a task of a user.
    func make(_ target: Target, of user: TestUser) throws -> Int {
        let client = try client(of: user)
        switch target {
        case .heldLive: return try client.begin()
        case .runLive: return try client.submit(["sleep", "1000"])
        case .heldEnded:
            let id = try client.begin()
            _ = try client.ask(Tasks.End.self) { $0.id = id }
            return id
        case .runEnded:
            let id = try client.submit(["true"])
            #expect(try client.ended(id).outcome == .completed)
            return id
        }
    }

    /// The first reply to a call that a user makes on a connection of its own, byte for byte.
    func reply(to call: String, of user: TestUser) throws -> String {
        let connection = try RawConnection(daemon, as: user)
        try connection.send(frame: call)
        return String(decoding: try #require(try connection.nextFrame()), as: UTF8.self)
    }

    func answer(to call: String, of user: TestUser) throws -> Answer {
        let reply = try reply(to: call, of: user)
        return Answer(try JSONDocument(parsing: Array(reply.utf8)).value(at: 0))
    }
}

@Suite(
    "Every method, for own tasks, those of others and ids that never were",
    .enabled(if: geteuid() == 0, "only a daemon of root serves other users"))
struct UserTests {
    private static let operators: [TestUser] = [.staff, .sysStaff, .root]
    private static let users: [TestUser] = [.games, .backup] + operators

    private static let taskMethods: [(name: String, answers: [Target: Answer])] =
        AccessTable.rows.compactMap { name, row in
            if case .task(let answers) = row { (name, answers) } else { nil }
        }.sorted { $0.name < $1.name }

    static let applicationMethods: [(name: String, answer: Answer)] =
        AccessTable.rows.compactMap { name, row in
            if case .application(let answer) = row { (name, answer) } else { nil }
        }.sorted { $0.name < $1.name }

    /// Methods whose id chooses among what is the caller's: another's is passed over, as one that never was.
    private static let choosing: Set = ["org.bgtaskd.Applications.History"]

    @Test("the table has every method, and all that name a task or an application as such")
    func complete() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        let described = try AccessTable.described(by: daemon.connect(as: .games))
        #expect(Set(described.keys) == Set(AccessTable.rows.keys))
        let naming = described.filter { $0.value.contains("id") }.keys
        let listed = Self.taskMethods.map(\.name) + Self.applicationMethods.map(\.name)
        #expect(Set(naming) == Set(listed).union(Self.choosing))
    }

    @Test("a task of another looks like an id that never was", arguments: users)
    func foreign(owner: TestUser) throws {
        let work = try UsersAtWork()
        let described = try AccessTable.described(by: work.client(of: .root))
        for (method, _) in Self.taskMethods {
            let takesAll = described[method]?.contains("all") == true
            for target in Target.allCases {
                let id = try work.make(target, of: owner)
                let before = try work.client(of: owner).show(id)
                for user in Self.users where user != owner {
                    for all in takesAll ? [nil, false] : [nil] {
                        let told = try work.reply(
                            to: AccessTable.call(method, id: id, all: all), of: user)
                        let never = try work.reply(
                            to: AccessTable.call(method, id: UsersAtWork.never, all: all), of: user)
                        let expected = never.replacing("\(UsersAtWork.never)", with: "\(id)")
                        #expect(told == expected, "\(method) of \(target) by \(user)")
                        #expect(told.contains("org.bgtaskd.Tasks.NoSuchTask"))
                    }
                }
                let after = try work.client(of: owner).show(id)
                #expect(after.state == before.state)
                #expect(after.outcome == before.outcome)
            }
        }
    }

    @Test("an own task is reached, whoever its owner is", arguments: users)
    func own(owner: TestUser) throws {
        let work = try UsersAtWork()
        for (method, answers) in Self.taskMethods {
            for target in Target.allCases {
                let id = try work.make(target, of: owner)
                let told = try work.answer(to: AccessTable.call(method, id: id), of: owner)
                #expect(told == answers[target], "\(method) of \(target) by \(owner)")
            }
            let never = AccessTable.call(method, id: UsersAtWork.never)
            #expect(try work.answer(to: never, of: owner) == .unknown, "\(method) by \(owner)")
        }
    }

    @Test("all is refused to who is no operator, whatever the call is about")
    func allRefused() throws {
        let work = try UsersAtWork()
        let described = try AccessTable.described(by: work.client(of: .root))
        for (method, fields) in described where fields.contains("all") {
            var told: Set<String> = []
            let namesTask = fields.contains("id")
            let ids: [Int?] =
                namesTask
                ? try Target.allCases.flatMap { target in
                    try [TestUser.games, .backup].map { try work.make(target, of: $0) }
                } + [UsersAtWork.never] : [nil]
            for id in ids {
                told.insert(
                    try work.reply(to: AccessTable.call(method, id: id, all: true), of: .games))
            }
            #expect(told.count == 1, "\(method): \(told)")
            #expect(told.first?.contains("org.varlink.service.PermissionDenied") == true)
        }
        for user in [TestUser.games, .backup] {
            let tasks = try work.client(of: user).ask(Tasks.List.self).tasks
            #expect(tasks?.allSatisfy { $0.state == .running } == true)
        }
    }

    @Test("an operator reaches the tasks of all with all", arguments: operators)
    func operatorReaches(user: TestUser) throws {
        let work = try UsersAtWork()
        let described = try AccessTable.described(by: work.client(of: user))
        for (method, answers) in Self.taskMethods where described[method]?.contains("all") == true {
            for target in Target.allCases {
                for owner in [TestUser.games, user] {
                    let id = try work.make(target, of: owner)
                    let call = AccessTable.call(method, id: id, all: true)
                    let told = try work.answer(to: call, of: user)
                    #expect(told == answers[target], "\(method) of \(target) of \(owner)")
                }
            }
            let never = AccessTable.call(method, id: UsersAtWork.never, all: true)
            #expect(try work.answer(to: never, of: user) == .unknown, "\(method)")
        }
    }

    @Test("no group is one of operators where the settings name none")
    func noOperators() throws {
        let daemon = try DaemonProcess.forEverybody(.supervisor)
        for user in [TestUser.staff, .sysStaff] {
            let client = try daemon.connect(as: user)
            let listing = try client.refusal(of: Tasks.List.self) { $0.all = true }
            #expect(ServiceError(listing) == .permissionDenied)
            let order = try client.refusal(of: Manager.Reload.self)
            #expect(ServiceError(order) == .permissionDenied)
        }
    }

    @Test("what is about the daemon is for operators, and the rest for everybody")
    func withoutTasks() throws {
        let work = try UsersAtWork()
        for (method, row) in AccessTable.rows {
            for user in Self.users {
                // A watch of no task in particular is open until something happens.
                guard ![Tasks.Watch.name, Applications.Watch.name].contains(method) else {
                    continue
                }
                let told = try work.answer(to: AccessTable.call(method), of: user)
                switch row {
                case .task, .application:
                    #expect(told == .invalid, "\(method) by \(user)")
                case .everybody(let answer): #expect(told == answer, "\(method) by \(user)")
                case .operators(let answer):
                    let isOperator = Self.operators.contains(user)
                    #expect(told == (isOperator ? answer : .denied), "\(method) by \(user)")
                }
            }
        }
    }
}
