package import TaskAPI

extension TimelineEntry {
    /// The runs of applications, of what was told at a moment of their states in any order.
    ///
    /// - Parameter now: when it was told, in milliseconds since 1970.
    package static func runs(of spans: [Applications.Span], now: Int) -> [TimelineEntry] {
        struct Key: Hashable {
            let owner: Int
            let application: String
        }
        let owners = Dictionary(grouping: spans) {
            Key(owner: $0.owner, application: $0.application)
        }
        return owners.values.flatMap { spans -> [TimelineEntry] in
            var (runs, run): ([TimelineEntry], [Applications.Span]) = ([], [])
            let sorted = spans.sorted {
                ($0.beganMs, $0.endedMs ?? -1) > ($1.beganMs, $1.endedMs ?? -1)
            }
            for span in sorted {
                guard span.state == .notRunning else {
                    run.append(span)
                    continue
                }
                runs += [TimelineEntry(run: run, over: span, now: now)].compactMap(\.self)
                run = []
            }
            return runs + [TimelineEntry(run: run, over: nil, now: now)].compactMap(\.self)
        }
    }

    /// - Parameters:
    ///   - run: the states from a launch on.
    ///   - over: the state after it; `nil` where none is told.
    private init?(run: [Applications.Span], over: Applications.Span?, now: Int) {
        guard let last = run.last ?? over, over?.reason != nil || !run.isEmpty else { return nil }
        func moment(_ ago: Int) -> Int { now - min(max(ago, 0), now) }
        var spans: [TimelineSpan] = []
        var marks: [TimelineMark] = []
        for span in run {
            let begin = max(moment(span.beganMs), spans.last?.end ?? 0)
            let end = max(span.endedMs.map(moment) ?? now, begin)
            let seen = min(max(span.seenMs.map(moment) ?? end, begin), end)
            spans.append(TimelineSpan(Self.kind(span), begin, seen))
            // No daemon was there to see it.
            if seen < end { spans.append(TimelineSpan(.unknown, seen, end)) }
        }
        let reached = spans.last?.end ?? 0
        let outcome = over?.reason.map(Self.outcome)
        if let over, let outcome {
            marks.append(
                TimelineMark(kind: .ended(outcome), moment: max(moment(over.beganMs), reached)))
        } else if last.endedMs == nil, over == nil {
            marks.append(TimelineMark(kind: .live, moment: reached))
        }
        self.init(
            subject: .application, name: last.application, owner: last.owner,
            application: last.application, sharesTime: true, spans: spans, marks: marks,
            outcome: outcome,
            details: (over?.reason).map { ["ended: \($0.rawValue)"] } ?? [])
    }

    private static func kind(_ span: Applications.Span) -> TimelineSpan.Kind {
        switch span.state {
        case .inactive, .active: .foreground
        // One that could not be frozen goes on in the background.
        case .suspended: span.frozen == false ? .background : .frozen
        case .background, .notRunning: .background
        }
    }

    /// The outcome of a task that ends like this.
    private static func outcome(_ reason: Applications.TerminationReason) -> Tasks.Outcome {
        switch reason {
        case .exited, .exitsOnSuspend: .completed
        case .crashed: .failed
        case .terminated: .cancelled
        case .backgroundTimeOverrun, .messageOverrun, .taskOverrun: .overrun
        case .memoryPressure, .interrupted: .interrupted
        }
    }
}
