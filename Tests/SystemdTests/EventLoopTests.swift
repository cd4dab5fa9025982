import CSystemd
import Glibc
import Systemd
import Testing

@Suite("The event loop")
struct EventLoopTests {
    @Test("a source may remove itself inside its own handler, and never fires again")
    func removesItself() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        pipe.write("x")
        var calls = 0
        var source: DescriptorSource?
        source = try loop.addDescriptor(pipe.reader, events: .readable, priority: .clients) { _ in
            calls += 1
            source?.remove()
            source?.remove()
            source = nil
        }
        try loop.addDefer(priority: .background) { loop.exit(0) }
        #expect(try loop.runBounded() == 0)
        #expect(calls == 1)
    }

    @Test("a source that another handler removes in the same turn never fires")
    func removesAnother() throws {
        let loop = try EventLoop()
        let (left, right) = (try Pipe(), try Pipe())
        var calls: [String] = []
        var other: DescriptorSource?
        try loop.addDescriptor(left.reader, events: .readable, priority: .processes) { _ in
            calls.append("first")
            left.drain()
            other?.remove()
        }
        other = try loop.addDescriptor(right.reader, events: .readable, priority: .clients) { _ in
            calls.append("other")
        }
        left.write("x")
        right.write("x")
        try loop.addDefer(priority: .background) { loop.exit(0) }
        #expect(try loop.runBounded() == 0)
        #expect(calls == ["first"])
        #expect(other?.isRemoved == true)
    }

    @Test("removal releases what the handler captured, also of a source without a handle")
    func releasesHandlers() throws {
        final class Captured {}
        let loop = try EventLoop()
        weak var kept: Captured?
        weak var removed: Captured?
        weak var removedSource: TimerSource?
        do {
            let (one, two) = (Captured(), Captured())
            (kept, removed) = (one, two)
            try loop.addExit { _ = one }
            let source = try loop.addTimer { _ = two }
            removedSource = source
            source.remove()
        }
        #expect(removedSource == nil)
        #expect(kept != nil)
        #expect(removed == nil)
    }

    @Test("sources go with their loop, and their handles stay harmless")
    func outlivesLoop() throws {
        var loop: EventLoop? = try EventLoop()
        let timer = try #require(try loop?.addTimer {})
        loop = nil
        #expect(timer.isRemoved)
        timer.disarm()
        timer.remove()
        #expect(throws: SystemdError.self) { try timer.arm(atNanoseconds: 1) }
    }

    @Test("an error that a handler throws ends the loop with that error, after the exit handlers")
    func errorEndsLoop() throws {
        let loop = try EventLoop()
        var exits = 0
        try loop.addDefer(priority: .clients) { throw HandlerFailed(number: 7) }
        try loop.addExit { exits += 1 }
        try loop.addExit { throw HandlerFailed(number: 8) }
        #expect(throws: HandlerFailed(number: 7)) { try loop.runBounded() }
        #expect(exits == 1)
    }

    @Test("what is ready at once is dispatched by priority")
    func dispatchesByPriority() throws {
        let loop = try EventLoop()
        var order: [EventPriority] = []
        for priority in EventPriority.allCases.reversed() {
            try loop.addDefer(priority: priority) {
                order.append(priority)
                if order.count == EventPriority.allCases.count { loop.exit(0) }
            }
        }
        #expect(try loop.runBounded() == 0)
        #expect(
            order == [.timers, .signals, .health, .processes, .clients, .background, .leftovers])
    }

    @Test("a post handler runs after each source and before the next")
    func postRunsAfterEveryTurn() throws {
        let loop = try EventLoop()
        var order: [String] = []
        try loop.addPost { order.append("post") }
        try loop.addDefer(priority: .timers) { order.append("one") }
        try loop.addDefer(priority: .clients) { order.append("two") }
        try loop.addDefer(priority: .background) { loop.exit(0) }
        #expect(try loop.runBounded() == 0)
        #expect(order == ["one", "post", "two", "post"])
    }

    @Test("deferred work runs again when scheduled, once for several requests")
    func schedulesDeferred() throws {
        let loop = try EventLoop()
        var calls = 0
        var deferred: DeferredSource?
        deferred = try loop.addDefer(priority: .clients) {
            calls += 1
            if calls < 3 {
                try deferred?.schedule()
                try deferred?.schedule()
            }
        }
        var turns = 0
        var end: DeferredSource?
        end = try loop.addDefer(priority: .background) {
            turns += 1
            if turns == 3 { loop.exit(0) } else { try end?.schedule() }
        }
        #expect(try loop.runBounded() == 0)
        #expect(calls == 3)
        (deferred, end) = (nil, nil)
    }

    @Test("an inner epoll is one source, whatever happens on its descriptors")
    func watchesInnerEpoll() throws {
        let loop = try EventLoop()
        let inner = epoll_create1(0)
        defer { close(inner) }
        let pipes = try (0..<16).map { _ in try Pipe() }
        for pipe in pipes {
            var event = epoll_event()
            event.events = DescriptorEvents.readable.rawValue
            event.data.fd = pipe.reader
            #expect(epoll_ctl(inner, EPOLL_CTL_ADD, pipe.reader, &event) == 0)
            pipe.write("x")
        }
        var turns = 0
        var seen: Set<Int32> = []
        try loop.addDescriptor(inner, events: .readable, priority: .clients) { events in
            #expect(events == .readable)
            turns += 1
            var ready = [epoll_event](repeating: epoll_event(), count: 16)
            let count = epoll_wait(inner, &ready, 16, 0)
            for event in ready.prefix(Int(count)) {
                seen.insert(event.data.fd)
                pipes.first { $0.reader == event.data.fd }?.drain()
            }
            loop.exit(0)
        }
        #expect(try loop.runBounded() == 0)
        #expect(turns == 1)
        #expect(seen == Set(pipes.map(\.reader)))
    }

    @Test("a source can wait for room to write, and a closed peer is told")
    func changesEvents() throws {
        let loop = try EventLoop()
        let pipe = try Pipe()
        var seen: [DescriptorEvents] = []
        var source: DescriptorSource?
        source = try loop.addDescriptor(pipe.writer, events: [], priority: .clients) { events in
            seen.append(events)
            if seen.count == 1 {
                try source?.watch(for: [])
                pipe.closeReader()
            } else {
                loop.exit(0)
            }
        }
        try source?.watch(for: .writable)
        #expect(try loop.runBounded() == 0)
        #expect(seen == [.writable, .error])
        source?.remove()
    }

    @Test("a descriptor that epoll cannot watch is refused with its number")
    func refusesFile() throws {
        let loop = try EventLoop()
        let file = open("/proc/self/exe", O_RDONLY)
        defer { close(file) }
        let error = #expect(throws: SystemdError.self) {
            try loop.addDescriptor(file, events: .readable, priority: .clients) { _ in }
        }
        #expect(error?.errno == EPERM)
        #expect(error?.description.contains("descriptor \(file)") == true)
    }

    @Test("a signal is taken by the loop, with its sender")
    func receivesSignal() throws {
        let loop = try EventLoop()
        var received: SignalSource.Received?
        try loop.addSignal(SIGUSR2) {
            received = $0
            loop.exit(0)
        }
        // To this thread alone: the test process has others, which do not block it.
        pthread_kill(pthread_self(), SIGUSR2)
        #expect(try loop.runBounded() == 0)
        #expect(received?.number == SIGUSR2)
        #expect(received?.processID == getpid())
        #expect(received?.userID == getuid())
    }

    @Test("no watchdog is asked for outside a unit")
    func hasNoWatchdog() throws {
        let loop = try EventLoop()
        #expect(try loop.enableWatchdog {} == false)
    }
}
