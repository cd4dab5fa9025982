package import LinuxSystem
package import TaskAPI

/// What the live view knows, and what it is to show of that.
///
/// Pure: performs no I/O and reads no clock. What happened goes in with its time, in milliseconds; orders come out.
package struct TopModel {
    /// The tasks and their lines.
    package private(set) var list: TopList
    /// Whether the tasks of all users are shown.
    private(set) var isOfEverybody: Bool
    package private(set) var mode = Mode.list
    package private(set) var size: TopSize
    private(set) var groups = Tasks.Groups.Output()
    private(set) var applications = TopApplications()
    private(set) var pressure: MemoryPressure?
    /// How many tasks have ended since the view began, by outcome.
    private(set) var ended: [Tasks.Outcome: Int] = [:]
    private(set) var output: TopOutput?
    private(set) var explanation: Explanation?
    private(set) var connection = Connection.open
    private var notice: (line: String, until: Int)?
    private let users: (Int) -> String

    /// What the keys are for.
    package enum Mode: Equatable {
        case list
        /// The output of the chosen task fills the screen.
        case following
        case help
        /// A filter is typed; what it was before comes back where that is given up.
        case filtering(before: String)
        /// Whether a task is to be cancelled is asked.
        case cancelling(Int)
    }

    /// What was said of the rules that hold a task.
    struct Explanation {
        let id: Int
        let rules: [Tasks.Explanation]
    }

    /// How it stands with the daemon.
    enum Connection: Equatable {
        case open
        /// It has been asked something, and has not answered since this time.
        case silent(since: Int)
        /// Gone, for this reason, since this time; nothing of what is shown goes on.
        case lost(String, since: Int)
    }

    /// What happened.
    package enum Event {
        case key(TopKey)
        case resized(TopSize)
        /// All tasks that there are.
        case listed([Tasks.Task])
        case happened(Tasks.Event)
        /// How one task is, of which no event told.
        case shown(Tasks.Task)
        case grouped(Tasks.Groups.Output)
        case appeared([Applications.Application])
        case measured(MemoryPressure?)
        /// The output of a task, from its beginning on where `isFirst`.
        case printed(Int, String, isFirst: Bool)
        case explained(Int, [Tasks.Explanation])
        case extended(Int, Tasks.Remaining)
        /// What was ordered is on its way.
        case ordered(Order)
        /// The daemon refuses, for this reason.
        case refused(Order?, String)
        case wentSilent
        case answered
        case lost(String)
        case connected
    }

    /// What is to be done.
    package enum Order: Equatable {
        case quit
        /// Show the screen anew.
        case redraw
        case explain(Int)
        case extend(Int)
        case cancel(Int)
        /// Hold the queued tasks of a group back.
        case pause(String)
        case resume(String)
        /// Watch the tasks of all users, or one's own alone.
        case watch(everybody: Bool)

        /// Whether the daemon is to be asked something now.
        var isForDaemon: Bool {
            switch self {
            case .explain, .extend, .cancel, .pause, .resume: true
            case .quit, .redraw, .watch: false
            }
        }
    }

    private static let nothingChosen = "there is no task to do that with"

    /// How long something is said, in milliseconds.
    private static let noticeTime = 6000

    /// - Parameter users: the name of a user.
    package init(
        size: TopSize, order: TopOrder = .left, filter: String = "", isOfEverybody: Bool = false,
        users: @escaping (Int) -> String
    ) {
        self.size = size
        self.isOfEverybody = isOfEverybody
        self.users = users
        list = TopList(order: order, filter: filter)
    }

    // MARK: Questions

    /// The task whose output is wanted: that of the chosen one, if it is a command that has begun.
    package var outputWanted: Int? {
        guard size.isInteractive, connection == .open || !isLost, let task = list.chosen?.told,
            task.kind == .run, task.wake != true, task.state != .queued
        else { return nil }
        return task.id
    }

    /// What is to be said now; `nil` where nothing is.
    func line(at now: Int) -> String? {
        notice.flatMap { now < $0.until ? $0.line : nil }
    }

    /// The time up to which what is shown goes on.
    func clock(at now: Int) -> Int {
        guard case .lost(_, let since) = connection else { return now }
        return since
    }

    /// The tasks that can be seen and of which something can change without an event.
    package var askedFor: [Int] {
        guard mode == .list, !isLost else { return [] }
        return window.filter { list[$0]?.isToBeAskedFor == true }
    }

    /// The ids of the lines that can be seen.
    package var window: ArraySlice<Int> {
        let count = TopLayout.rowCount(self)
        return list.rows[min(list.top, list.rows.count)...].prefix(count)
    }

    private var isLost: Bool {
        if case .lost = connection { true } else { false }
    }

    // MARK: What happens

    /// Puts the lines in order, before they are shown or a key is about them.
    package mutating func arrange() {
        list.arrange(height: TopLayout.rowCount(self))
        if explanation?.id != list.chosenID { explanation = nil }
        if output?.id != list.chosenID { output = nil }
        if mode == .following, list.chosenID == nil { mode = .list }
    }

    /// - Returns: what is to be done, in this order.
    @discardableResult
    package mutating func handle(_ event: Event, at now: Int) -> [Order] {
        switch event {
        case .key(let key):
            arrange()
            return sendable(take(key, at: now), at: now)
        case .resized(let size): self.size = size
        case .listed(let tasks):
            list.replace(
                tasks.map { TopTask($0, owner: users($0.owner), after: list[$0.id], at: now) })
        case .happened(let event): take(event, at: now)
        case .shown(let task):
            // It may have ended meanwhile, and have been told so.
            if let known = list[task.id], !known.hasEnded, task.state != .ended {
                take(task, at: now)
            }
        case .grouped(let groups): self.groups = groups
        case .appeared(let all): applications = TopApplications(all, at: now)
        case .measured(let pressure): self.pressure = pressure
        case .printed(let id, let text, let isFirst):
            guard id == list.chosenID else { break }
            if isFirst || output?.id != id { output = TopOutput(of: id) }
            output?.add(text)
        case .explained(let id, let rules):
            if id == list.chosenID { explanation = Explanation(id: id, rules: rules) }
        default: return takeAnswer(event, at: now)
        }
        return []
    }

    private mutating func takeAnswer(_ event: Event, at now: Int) -> [Order] {
        switch event {
        case .extended(let id, let remaining):
            say("\(name(of: id)): \(TimeText.remaining(remaining))", at: now)
        case .ordered(let order): say(order, at: now)
        case .refused(.watch(everybody: true), let line):
            say(line, at: now)
            isOfEverybody = false
            return [.watch(everybody: false)]
        case .refused(_, let line): say(line, at: now)
        case .wentSilent: if connection == .open { connection = .silent(since: now) }
        case .answered: if !isLost { connection = .open }
        case .lost(let line): if !isLost { connection = .lost(line, since: now) }
        case .connected: connection = .open
        default: break
        }
        return []
    }

    private mutating func take(_ event: Tasks.Event, at now: Int) {
        if event.kind == .ended, let outcome = event.task.outcome {
            ended[outcome, default: 0] += 1
        }
        take(event.task, at: now)
    }

    private mutating func take(_ task: Tasks.Task, at now: Int) {
        list.take(TopTask(task, owner: users(task.owner), after: list[task.id], at: now))
    }

    private mutating func say(_ line: String, at now: Int) {
        notice = (line, now + TopModel.noticeTime)
    }

    private mutating func say(_ order: Order, at now: Int) {
        switch order {
        case .cancel(let id): say("\(name(of: id)) is being cancelled", at: now)
        case .pause(let group): say("group \(group) is paused; what runs goes on", at: now)
        case .resume(let group): say("group \(group) goes on", at: now)
        default: break
        }
    }

    /// `flush (7)`.
    func name(of id: Int) -> String {
        list[id].map { "\($0.told.name) (\(id))" } ?? "task \(id)"
    }

    // MARK: Keys

    /// The orders, where there is a daemon that hears them.
    private mutating func sendable(_ orders: [Order], at now: Int) -> [Order] {
        guard isLost, orders.contains(where: \.isForDaemon) else { return orders }
        say("no connection to bgtaskd: press it again when it is back", at: now)
        return []
    }

    private mutating func take(_ key: TopKey, at now: Int) -> [Order] {
        notice = nil
        if key == .redraw { return [.redraw] }
        switch mode {
        case .list, .following: return takeInList(key, at: now)
        case .help:
            mode = .list
            return []
        case .filtering(let before):
            type(key, before: before)
            return []
        case .cancelling(let id):
            mode = .list
            if key == .character("y") || key == .character("Y") { return [.cancel(id)] }
            say("\(name(of: id)) was not cancelled", at: now)
            return []
        }
    }

    private mutating func takeInList(_ key: TopKey, at now: Int) -> [Order] {
        let page = max(1, TopLayout.rowCount(self) - 1)
        switch key {
        case .up, .character("k"): list.move(by: -1)
        case .down, .character("j"): list.move(by: 1)
        case .pageUp: list.move(by: -page)
        case .pageDown, .character(" "): list.move(by: page)
        case .home, .character("g"): list.moveToFirst()
        case .end, .character("G"): list.moveToLast()
        case .enter, .character("f"):
            if list.chosenID == nil { say(TopModel.nothingChosen, at: now) }
            if list.chosenID != nil { mode = mode == .list ? .following : .list }
            list.holdChosen()
        case .escape: escape()
        case .character("q"):
            guard mode == .following else { return [.quit] }
            mode = .list
        case .character("?"), .character("h"): mode = .help
        case .character("/"): mode = .filtering(before: list.filter)
        case .character("s"):
            list.sort(list.order.next)
            say("ordered by \(list.order == .left ? "what is left" : list.order.rawValue)", at: now)
        case .character("a"):
            isOfEverybody.toggle()
            return [.watch(everybody: isOfEverybody)]
        case .character(let letter): return order(letter, at: now)
        case .backspace, .redraw: break
        }
        arrange()
        return []
    }

    /// Takes back what was asked for last.
    private mutating func escape() {
        if mode == .following {
            mode = .list
        } else if explanation != nil {
            explanation = nil
        } else {
            list.filter("")
        }
    }

    /// Orders something for the chosen task.
    private mutating func order(_ letter: Unicode.Scalar, at now: Int) -> [Order] {
        guard ["e", "+", "=", "c", "p"].contains(letter) else {
            let key = VisibleText.oneLine(String(letter))
            say("\(key) is no key here; ? shows those that are", at: now)
            return []
        }
        guard let task = list.chosen else {
            say(TopModel.nothingChosen, at: now)
            return []
        }
        switch letter {
        case "e":
            list.holdChosen()
            guard explanation == nil else {
                explanation = nil
                return []
            }
            return [.explain(task.id)]
        case "+", "=":
            list.holdChosen()
            return [.extend(task.id)]
        case "c":
            list.holdChosen()
            guard !task.hasEnded else {
                say("\(name(of: task.id)) has ended already", at: now)
                return []
            }
            mode = .cancelling(task.id)
            return []
        case "p": return pauseGroup(of: task, at: now)
        default: return []
        }
    }

    private mutating func pauseGroup(of task: TopTask, at now: Int) -> [Order] {
        list.holdChosen()
        guard let group = task.told.group else {
            say("\(name(of: task.id)) is in no group", at: now)
            return []
        }
        let isPaused = groups.groups.first { $0.name == group }?.paused == true
        return [isPaused ? .resume(group) : .pause(group)]
    }

    private mutating func type(_ key: TopKey, before: String) {
        switch key {
        case .enter: mode = .list
        case .escape:
            list.filter(before)
            mode = .list
        case .backspace: list.filter(String(list.filter.dropLast()))
        case .character(let scalar) where scalar.value >= 0x20 && scalar.value != 0x7F:
            if list.filter.utf8.count < 100 { list.filter(list.filter + String(scalar)) }
        case .up: list.move(by: -1)
        case .down: list.move(by: 1)
        default: break
        }
        arrange()
    }
}

/// How much room there is.
package struct TopSize: Equatable, Sendable {
    package var width: Int
    /// `nil` for a snapshot, which has all lines.
    package var height: Int?

    /// Whether there is somebody with keys.
    var isInteractive: Bool { height != nil }

    package init(width: Int, height: Int? = nil) {
        self.width = width
        self.height = height
    }
}

/// The applications of the live view.
struct TopApplications {
    private(set) var all: [Applications.Application] = []
    private var toldAt = 0

    init() {}

    /// - Parameter now: when they were told of.
    init(_ all: [Applications.Application], at now: Int) {
        self.all = all.filter { $0.state != .notRunning }.sorted {
            ($0.state.place, $0.id, $0.owner) < ($1.state.place, $1.id, $1.owner)
        }
        toldAt = now
    }

    /// How each is now, in a few words: `player in the background, 2min 3s`.
    func texts(at now: Int) -> [(text: String, colour: Style.Colour?)] {
        all.map { application in
            let left = application.remainingMs.map {
                max(0, $0.clamped(to: .milliseconds) - max(0, now - toldAt))
            }
            let state =
                switch application.state {
                case .background: "background" + (left.map { " \(TimeText.countdown($0))" } ?? "")
                case .suspended: application.frozen ? "frozen" : "suspended, not frozen"
                case .active, .inactive, .notRunning: application.state.rawValue
                }
            return ("\(application.id) \(state)", ApplicationText.colour(application.state))
        }
    }
}

extension Applications.State {
    /// Those first whose time is limited, then those that stand still.
    fileprivate var place: Int {
        switch self {
        case .background: 0
        case .suspended: 1
        case .active: 2
        case .inactive: 3
        case .notRunning: 4
        }
    }
}
