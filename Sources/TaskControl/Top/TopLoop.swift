internal import Glibc
internal import LinuxSystem
internal import TaskAPI

/// Runs the live view: waits for what the daemon, the keyboard and the clock do, and shows what `TopModel` makes of it.
struct TopLoop {
    private var model: TopModel
    private let session: Session
    private let screen: CursesScreen
    private let signals: SignalInbox
    private var feed: TopFeed?
    private var times = Times()
    private var hasMore = false
    private var isToBeShown = true

    /// When something is due next.
    private struct Times {
        var show = 0
        var measure = 0
        var look = 0
        var connect = 0
    }

    /// The signals that it takes.
    static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT]

    // Milliseconds.
    private static let showInterval = 200
    /// How often times are counted down.
    private static let tick = 500
    private static let measureInterval = 2000
    private static let lookInterval = 1000
    private static let lookIntervalMax = 3000
    private static let connectInterval = 1000
    private static let silenceMax = 3000

    init(
        _ model: TopModel, _ feed: TopFeed, _ session: Session, _ screen: CursesScreen,
        _ signals: SignalInbox
    ) {
        self.model = model
        self.feed = feed
        self.session = session
        self.screen = screen
        self.signals = signals
    }

    /// Milliseconds, on a clock that stands still while the machine sleeps, as budgets do.
    static var now: Int { Int(MonotonicClock.now() / 1_000_000) }

    /// Runs until somebody quits.
    ///
    /// - Returns: `nil`, or the signal that ends this process.
    mutating func run() -> Int32? {
        while true {
            while let number = signals.next() {
                if takes(number) { continue }
                return number
            }
            while let key = screen.nextKey() {
                guard perform(model.handle(.key(key), at: TopLoop.now)) else { return nil }
                (isToBeShown, times.show) = (true, 0)
            }
            guard takeEvents() else { return nil }
            keepTime()
            show()
            guard wait() else { return SIGHUP }
        }
    }

    // MARK: What happens

    /// Acts on a signal.
    ///
    /// - Returns: `false` for one that ends this process.
    private mutating func takes(_ number: Int32) -> Bool {
        switch number {
        case SIGWINCH: screen.resize()
        case SIGCONT: screen.comeBack()
        case SIGTSTP:
            // Nobody reads while it is stopped; the daemon is not to wait for that, nor a task that prints.
            feed = nil
            screen.leave()
            signals.stop(by: SIGTSTP)
            screen.comeBack()
            times.connect = 0
        default: return false
        }
        _ = model.handle(.resized(screen.size), at: TopLoop.now)
        (isToBeShown, times.show) = (true, 0)
        return true
    }

    /// Takes what the daemon tells.
    ///
    /// - Returns: `false` where that ends the view.
    private mutating func takeEvents() -> Bool {
        hasMore = false
        guard let feed else { return true }
        do throws(Failure) {
            let (events, hasMore) = try feed.receive(at: TopLoop.now)
            self.hasMore = hasMore
            guard !events.isEmpty else { return true }
            isToBeShown = true
            let hasHappened = events.contains { event in
                switch event {
                case .happened, .listed, .ordered: true
                default: false
                }
            }
            if hasHappened { times.look = min(times.look, lastLook + TopLoop.lookInterval) }
            return events.allSatisfy { perform(model.handle($0, at: TopLoop.now)) }
        } catch {
            lose(error)
            return true
        }
    }

    private var lastLook: Int { times.look - TopLoop.lookIntervalMax }

    private mutating func lose(_ failure: Failure) {
        feed = nil
        times.connect = TopLoop.now + TopLoop.connectInterval
        _ = model.handle(.lost(failure.line), at: TopLoop.now)
        isToBeShown = true
    }

    /// - Returns: `false` where the view is to end.
    private mutating func perform(_ orders: [TopModel.Order]) -> Bool {
        for order in orders {
            switch order {
            case .quit: return false
            case .redraw: screen.redraw()
            case .watch:
                feed = nil
                times.connect = 0
            default:
                do throws(Failure) { try feed?.perform(order, at: TopLoop.now) } catch {
                    lose(error)
                }
            }
        }
        return true
    }

    // MARK: Time

    /// Does what is due.
    private mutating func keepTime() {
        let now = TopLoop.now
        if now >= times.measure {
            times.measure = now + TopLoop.measureInterval
            _ = model.handle(.measured(MemoryPressure.now()), at: now)
            isToBeShown = true
        }
        if feed == nil, now >= times.connect { connect(at: now) }
        guard let feed else { return }
        if let since = feed.waitsSince, now - since > TopLoop.silenceMax {
            _ = model.handle(.wentSilent, at: since)
        } else {
            _ = model.handle(.answered, at: now)
        }
        if now >= times.look {
            times.look = now + TopLoop.lookIntervalMax
            do throws(Failure) { try feed.look(at: model.askedFor, at: now) } catch { lose(error) }
        }
    }

    private mutating func connect(at now: Int) {
        do throws(Failure) {
            feed = try TopFeed(session, isOfEverybody: model.isOfEverybody, at: now)
            _ = model.handle(.connected, at: now)
            times.look = 0
        } catch {
            lose(error)
        }
    }

    private mutating func show() {
        let now = TopLoop.now
        guard isToBeShown, now >= times.show else { return }
        isToBeShown = false
        // All lines are put in order, which is too much for each event.
        model.arrange()
        feed?.follow(model.outputWanted, at: now)
        screen.show(TopLayout(model, at: now).lines())
        // Of very many tasks it takes longer; it is not to be all that this process does.
        let cost = TopLoop.now - now
        times.show = now + max(TopLoop.showInterval, cost * 10)
    }

    /// Waits until something has come or is due.
    ///
    /// - Returns: `false` where the terminal has gone.
    private mutating func wait() -> Bool {
        let now = TopLoop.now
        var due = [times.measure, now + TopLoop.tick]
        if isToBeShown { due.append(times.show) }
        if let feed {
            due += [times.look] + (feed.nextTime.map { [$0] } ?? [])
        } else {
            due.append(times.connect)
        }
        let time = hasMore ? 0 : max(0, (due.min() ?? now) - now)
        var requests = ([STDIN_FILENO, signals.descriptor] + (feed?.descriptors ?? [])).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        if poll(&requests, nfds_t(requests.count), Int32(time)) == 0 { isToBeShown = true }
        return requests[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) == 0
    }
}
