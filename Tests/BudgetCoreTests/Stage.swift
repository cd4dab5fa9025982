import BudgetCore

/// Applications with a shell that obeys at once, or waits to be told how an order went, and a transcript of
/// all that was ordered and told, in words.
struct Stage {
    /// Orders that the shell answers when the test says so.
    enum Held: Hashable { case start, freeze, thaw, kill }

    var clerk: Clerk
    var held: Set<Held> = []
    /// Whether what is told in the journal alone is in the transcript too.
    var showsNotes = false
    /// What was ordered and told since the last `take`.
    private(set) var transcript: [String] = []
    /// Every event that an observer of an application got.
    private(set) var events: [ApplicationKey: [ApplicationEvent]] = [:]
    /// What calls were answered with when they waited.
    private(set) var replies: [UInt64: [Refusal?]] = [:]
    private(set) var notes: [ApplicationNote] = []
    /// The number of the last freeze, thaw and delivery of an application.
    private(set) var freezes: [ApplicationKey: UInt64] = [:]
    private(set) var thaws: [ApplicationKey: UInt64] = [:]
    private(set) var deliveries: [ApplicationKey: UInt64] = [:]
    private(set) var tasks: [String: TaskID] = [:]
    private(set) var callLast: UInt64 = 0

    init(_ configure: (inout ApplicationRules) -> Void = { _ in }) {
        clerk = Clerk { $0.mayRunUnlimited = [Clerk.ann.owner] }
        configure(&clerk.registry.applicationRules)
    }

    static func key(_ id: String, _ owner: OwnerID = Clerk.ann.owner) -> ApplicationKey {
        ApplicationKey(owner: owner, id: id)
    }

    static let maps = key("maps")

    // MARK: - The shell

    /// Runs one call on the registry, and has its orders carried out.
    @discardableResult
    mutating func call<Result>(
        _ body: (inout BackgroundTaskRegistry, Instant, inout [Action]) throws -> Result
    ) rethrows -> Result {
        defer { obey() }
        return try clerk.call(body)
    }

    private mutating func obey() {
        var orders = clerk.latest
        while !orders.isEmpty {
            let latest = orders
            orders = []
            for case .application(let key, let order) in latest {
                note(key, order)
                clerk.latest = []
                perform(key, order)
                orders += clerk.latest
            }
        }
    }

    private mutating func perform(_ key: ApplicationKey, _ order: ApplicationOrder) {
        switch order {
        case .start where !held.contains(.start):
            clerk.call { $0.applicationStarted(key, at: $1, &$2) }
        case .freeze(let number) where !held.contains(.freeze):
            clerk.call { $0.applicationFrozen(key, number, at: $1, &$2) }
        case .thaw(let number) where !held.contains(.thaw):
            clerk.call { $0.applicationThawed(key, number, at: $1, &$2) }
        case .kill where !held.contains(.kill):
            clerk.call { $0.applicationGone(key, at: $1, &$2) }
        default: break
        }
    }

    private mutating func note(_ key: ApplicationKey, _ order: ApplicationOrder) {
        let prefix = key == Stage.maps ? "" : "\(key.id): "
        switch order {
        case .start: transcript.append(prefix + "start")
        case .freeze(let number):
            freezes[key] = number
            transcript.append(prefix + "freeze")
        case .thaw(let number):
            thaws[key] = number
            transcript.append(prefix + "thaw")
        case .signal(let signal):
            transcript.append(prefix + (signal == .terminate ? "SIGTERM" : "\(signal)"))
        case .kill: transcript.append(prefix + "kill")
        case .release: transcript.append(prefix + "release")
        case .tell(let event):
            events[key, default: []].append(event)
            if let delivery = event.delivery { deliveries[key] = delivery }
            transcript.append(prefix + Stage.words(for: event))
        case .note(let note):
            notes.append(note)
            if showsNotes { transcript.append(prefix + "note: \(note)") }
        case .answer(let number, let refusal): replies[number, default: []].append(refusal)
        }
    }

    /// A callback with the time that it tells, or the state alone.
    static func words(for event: ApplicationEvent) -> String {
        guard let callback = event.callback else {
            return event.badge.map { "badge \($0)" } ?? "(\(event.state))"
        }
        let time = event.background ?? (callback == .backgroundTimeExpiring ? event.remaining : nil)
        let detail =
            time.map { " \($0.components.seconds) s" }
            ?? (event.payload ?? event.identifier).map { " \($0)" }
        return "\(callback)" + (detail ?? event.badge.map { " \($0)" } ?? "")
    }

    /// The transcript since the last time.
    mutating func take() -> [String] {
        defer { transcript = [] }
        return transcript
    }

    mutating func nextCall() -> UInt64 {
        callLast += 1
        return callLast
    }

    // MARK: - Time

    /// Lets time pass, doing what is due when it is due.
    mutating func pass(_ duration: Duration) {
        let end = clerk.now + duration
        var turns = 0
        while let due = nextDue, due <= end, turns < 10_000 {
            turns += 1
            clerk.now = max(clerk.now, due)
            call { $0.deadlineReached(at: $1, &$2) }
        }
        clerk.now = end
    }

    private var nextDue: Instant? {
        let asleep = clerk.registry.asleep
        let wake = clerk.registry.nextQueueDeadline.map {
            Instant(nanoseconds: ($0 - asleep).nanoseconds)
        }
        return [clerk.registry.nextDeadline, wake].compactMap { $0 }.min()
    }

    // MARK: - Orders

    mutating func register(
        _ key: ApplicationKey = maps, _ configure: (inout Registration) -> Void = { _ in }
    ) throws {
        var registration = Registration(command: [key.id])
        configure(&registration)
        let number = nextCall()
        try call { try $0.register(key, registration, number: number, at: $1, &$2) }
    }

    /// - Returns: the number of the call.
    @discardableResult
    mutating func launch(_ key: ApplicationKey = maps) throws -> UInt64 {
        let number = nextCall()
        _ = try call { try $0.launch(key, number: number, at: $1, &$2) }
        return number
    }

    @discardableResult
    mutating func activate(_ key: ApplicationKey = maps) throws -> UInt64 {
        let number = nextCall()
        _ = try call { try $0.activate(key, number: number, at: $1, &$2) }
        return number
    }

    @discardableResult
    mutating func terminate(_ key: ApplicationKey = maps) throws -> UInt64 {
        let number = nextCall()
        _ = try call { try $0.terminate(key, number: number, at: $1, &$2) }
        return number
    }

    mutating func resign(_ key: ApplicationKey = maps) throws {
        try call { try $0.resign(key, at: $1, &$2) }
    }

    mutating func home(_ key: ApplicationKey = maps) throws {
        try call { try $0.enterBackground(key, at: $1, &$2) }
    }

    @discardableResult
    mutating func adopt(_ key: ApplicationKey = maps) throws -> UInt64 {
        let number = nextCall()
        let unit = AdoptedUnit(name: "\(key.id).service", user: nil)
        try call { registry, _, actions in
            try registry.adopt(key, units: [unit], number: number, &actions)
        }
        return number
    }

    @discardableResult
    mutating func push(
        _ message: PushMessage, to key: ApplicationKey = maps, badge: Int? = nil
    ) throws -> MessageReceipt {
        let number = nextCall()
        return try call {
            try $0.push(key, message, badge: badge, number: number, at: $1, &$2)
        }
    }

    mutating func delivered(_ key: ApplicationKey = maps, isSuccess: Bool = true) throws {
        guard let id = deliveries[key] else { return }
        try call { try $0.delivered(key, id, isSuccess: isSuccess, at: $1, &$2) }
    }

    /// Submits a task that an application is to do itself.
    mutating func perform(
        _ name: String = "refresh", by key: ApplicationKey = maps, seconds: Int = 60,
        _ configure: (inout Queueing) -> Void = { _ in }
    ) throws -> TaskID {
        var submission = Submission(name: name, owner: key.owner, work: Work(command: []))
        submission.application = key.id
        submission.budget = RequestedBudget(seconds: seconds, grace: 5)
        configure(&submission.queueing)
        return try call { try $0.submit(submission, at: $1, &$2) }.id
    }

    @discardableResult
    mutating func begin(
        _ name: String, of key: ApplicationKey = maps, profile: String? = "extended"
    ) throws -> TaskID {
        var request = BeginRequest(
            name: name, owner: key.owner, holder: HolderID(rawValue: 1))
        request.application = key.id
        request.profile = profile
        let id = try call { try $0.begin(request, at: $1, &$2) }
        tasks[name] = id
        return id
    }

    mutating func end(_ name: String) throws {
        let (id, caller) = (tasks[name] ?? .invalid, Clerk.ann)
        _ = try call { try $0.end(id, by: caller, at: $1, &$2) }
    }

    // MARK: - What is known

    func application(_ key: ApplicationKey = maps) -> ManagedApplication? {
        try? clerk.registry.application(key)
    }

    func state(_ key: ApplicationKey = maps) -> ApplicationState? { application(key)?.state }

    func last(_ key: ApplicationKey = maps) -> Termination? {
        application(key)?.lastTermination
    }
}
