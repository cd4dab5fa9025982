package import TaskAPI

/// A stretch of time in which something was in one state.
package struct TimelineSpan: Equatable, Sendable {
    /// The states that are drawn in ways of their own.
    package enum Kind: Int, CaseIterable, Sendable {
        /// In the queue, or before the next attempt.
        case waiting
        /// What happened then is not known any more.
        case unknown
        case running
        /// After the warning.
        case grace
        /// Its application was suspended.
        case frozen
        /// Its application was in front: it went on, and none of its time was used.
        case dormant
        /// Of an application: in front.
        case foreground
        /// Of an application: in the background.
        case background
    }

    package let kind: Kind
    /// In milliseconds since 1970, as `end`, which is not before it.
    package let begin: Int
    package let end: Int

    package init(_ kind: Kind, _ begin: Int, _ end: Int) {
        self.kind = kind
        self.begin = begin
        self.end = max(begin, end)
    }
}

/// A moment at which something was over, or is drawn last.
package struct TimelineMark: Equatable, Sendable {
    /// What is marked.
    package enum Kind: Equatable, Sendable {
        /// An attempt was over, and another followed or follows.
        case attempt(Tasks.Outcome)
        case ended(Tasks.Outcome)
        /// It has not ended.
        case live
    }

    package let kind: Kind
    /// In milliseconds since 1970.
    package let moment: Int
}

/// A task, or a run of an application, as it is drawn.
package struct TimelineEntry: Sendable {
    /// What is drawn.
    package enum Subject: Equatable, Sendable {
        case task(Int)
        case application
    }

    package let subject: Subject
    /// The task's or the application's.
    let name: String
    let owner: Int
    let application: String?
    /// Whether it uses its application's background time, and none in front.
    let sharesTime: Bool
    /// In the order of time, none overlapping another.
    package let spans: [TimelineSpan]
    package let marks: [TimelineMark]
    /// How it ended; `nil` where it has not, or that is not known.
    package let outcome: Tasks.Outcome?
    /// What else is to be told, a line each.
    package let details: [String]

    package var begin: Int { spans.first?.begin ?? marks.first?.moment ?? 0 }
    package var end: Int { max(spans.last?.end ?? 0, marks.last?.moment ?? 0) }
    var isTask: Bool { if case .task = subject { true } else { false } }

    /// The milliseconds in states of this kind.
    func time(_ kind: TimelineSpan.Kind) -> Int {
        spans.reduce(0) { $1.kind == kind ? $0 + $1.end - $1.begin : $0 }
    }

    /// The milliseconds in which it ran or was there.
    package var timeActive: Int {
        spans.reduce(0) { sum, span in
            switch span.kind {
            case .waiting, .unknown: sum
            case .running, .grace, .frozen, .dormant, .foreground, .background:
                sum + span.end - span.begin
            }
        }
    }
}

extension TimelineEntry {
    // MARK: A task

    /// A task as it was told at a moment.
    ///
    /// - Parameter now: when it was told, in milliseconds since 1970.
    package init(_ task: Tasks.Task, now: Int) {
        let task = task.bounded
        var course = Course(now: now)
        course.follow(task)
        var details: [String] = []
        if let reason = task.reason { details.append(reason) }
        if task.paused == true, task.state != .ended { details.append("paused now") }
        if task.stuck == true, task.state != .ended { details.append("stuck") }
        if let waiting = task.waiting, task.state == .queued {
            details.append("waiting: \(waiting)")
        }
        if let command = task.command { details.append(CommandText.shown(command)) }
        self.init(
            subject: .task(task.id), name: task.name, owner: task.owner,
            application: task.application, sharesTime: task.wake != true, spans: course.spans,
            marks: course.marks,
            outcome: task.outcome, details: details)
    }

    /// The states of a task one after the other.
    private struct Course {
        let now: Int
        private(set) var spans: [TimelineSpan] = []
        private(set) var marks: [TimelineMark] = []
        /// Up to when it is told.
        private var reached: Int?

        init(now: Int) { self.now = now }

        mutating func follow(_ task: Tasks.Task) {
            let end = task.endedMs.map(moment) ?? now
            let attempts = (task.attempts ?? []).sorted { $0.attempt < $1.attempt }
            let current = Self.start(of: task)
            reached = moment(task.submittedMs ?? Self.firstKnown(task, attempts) ?? 0)
            for (place, attempt) in attempts.enumerated() {
                let isLast =
                    task.state == .ended && place == attempts.count - 1
                    && attempt.attempt >= task.attempt
                let isFirst = place == 0
                let over = moment(attempt.endedMs)
                let start =
                    attempt.startedMs.map(moment)
                    ?? attempt.usedMs.map { over - $0 } ?? (isLast ? current.map(moment) : nil)
                if let start {
                    // The oldest attempts of many are not told.
                    wait(until: start, as: isFirst && attempt.attempt > 1 ? .unknown : .waiting)
                    run(until: over, warned: attempt.warnedMs.map(moment))
                } else {
                    wait(until: over, as: .unknown)
                }
                marks.append(
                    TimelineMark(
                        kind: isLast
                            ? .ended(task.outcome ?? attempt.outcome)
                            : .attempt(attempt.outcome), moment: reached ?? over))
                if isLast { return }
            }
            if let current {
                wait(until: moment(current), as: .waiting)
                run(until: end, warned: task.warnedMs.map(moment))
            } else {
                wait(until: end, as: .waiting)
            }
            marks.append(
                TimelineMark(
                    kind: task.outcome.map { .ended($0) } ?? .live, moment: reached ?? end))
        }

        /// How long ago the present attempt, or the only one, started; `nil` where none has.
        private static func start(of task: Tasks.Task) -> Int? {
            if let started = task.startedMs { return started }
            switch task.state {
            case .queued: return nil
            case .dormant, .running, .expiring:
                return task.submittedMs == nil ? task.ageMs : task.submittedMs
            case .ended:
                // What was told before starts were kept says how long it ran.
                guard let ended = task.endedMs, task.submittedMs == nil || task.kind == .held
                else { return nil }
                return ended.addingReportingOverflow(max(task.ageMs, 0)).partialValue
            }
        }

        /// How long ago the first was that is told of it.
        private static func firstKnown(_ task: Tasks.Task, _ attempts: [Tasks.Attempt]) -> Int? {
            let starts = attempts.map { $0.startedMs ?? $0.endedMs }
            return (starts + [start(of: task) ?? task.ageMs]).max()
        }

        /// So many milliseconds ago.
        private func moment(_ ago: Int) -> Int { now - min(max(ago, 0), now) }

        private mutating func wait(until moment: Int, as kind: TimelineSpan.Kind) {
            let begin = reached ?? moment
            guard moment > begin else { return }
            spans.append(TimelineSpan(kind, begin, moment))
            reached = moment
        }

        private mutating func run(until moment: Int, warned: Int?) {
            let begin = reached ?? moment
            let end = max(moment, begin)
            let warning = min(max(warned ?? end, begin), end)
            if warning > begin || warned == nil {
                spans.append(TimelineSpan(.running, begin, warning))
            }
            if warned != nil { spans.append(TimelineSpan(.grace, warning, end)) }
            reached = end
        }
    }

    // MARK: Coarser

    /// The same, with what is too short to be seen drawn as the longest of what is beside it, where there is much.
    ///
    /// - Returns: with how many spans less.
    func coarsened(shorterThan milliseconds: Int) -> (entry: TimelineEntry, lost: Int) {
        guard spans.count > Self.spansMax else { return (self, 0) }
        var coarse: [TimelineSpan] = []
        var (pending, longest): ([TimelineSpan], TimelineSpan?) = ([], nil)
        func flushed() {
            guard let first = pending.first, let last = pending.last, let longest else { return }
            coarse.append(TimelineSpan(longest.kind, first.begin, last.end))
        }
        for span in spans {
            let isLong = span.end - span.begin >= milliseconds
            let isFull = pending.first.map { span.end - $0.begin >= milliseconds } ?? false
            if isLong || isFull {
                flushed()
                (pending, longest) = ([], nil)
            }
            guard !isLong else {
                coarse.append(span)
                continue
            }
            pending.append(span)
            if longest.map({ span.end - span.begin > $0.end - $0.begin }) ?? true { longest = span }
        }
        flushed()
        return (with(coarse), spans.count - coarse.count)
    }

    private static let spansMax = 50

    private func with(_ spans: [TimelineSpan]) -> TimelineEntry {
        TimelineEntry(
            subject: subject, name: name, owner: owner, application: application,
            sharesTime: sharesTime, spans: spans,
            marks: marks, outcome: outcome, details: details)
    }

    // MARK: What its application did

    /// The same, with what of its work fell into these spans shown as they are.
    ///
    /// - Parameter others: in the order of time, none overlapping another.
    package func overlaid(with others: [TimelineSpan]) -> TimelineEntry {
        guard !others.isEmpty else { return self }
        let parts = spans.flatMap { span -> [TimelineSpan] in
            guard span.kind == .running || span.kind == .grace else { return [span] }
            var parts: [TimelineSpan] = []
            var reached = span.begin
            for rest in others[Self.firstIndex(endingAfter: span.begin, others)...] {
                guard rest.begin < span.end else { break }
                // Its grace is over in time, whatever its application does.
                if rest.kind == .dormant, span.kind == .grace { continue }
                let (begin, end) = (max(rest.begin, reached), min(rest.end, span.end))
                if begin > reached { parts.append(TimelineSpan(span.kind, reached, begin)) }
                if end > begin { parts.append(TimelineSpan(rest.kind, begin, end)) }
                reached = max(reached, end)
            }
            if reached < span.end || parts.isEmpty {
                parts.append(TimelineSpan(span.kind, reached, span.end))
            }
            return parts
        }
        return with(parts)
    }

    /// The first of these spans that ends after a moment.
    private static func firstIndex(endingAfter moment: Int, _ spans: [TimelineSpan]) -> Int {
        var (low, high) = (0, spans.count)
        while low < high {
            let middle = (low + high) / 2
            if spans[middle].end > moment { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
