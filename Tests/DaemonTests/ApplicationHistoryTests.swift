import Glibc
import TaskAPI
import TestKit
import Testing
import Varlink

@Suite("In which states applications were")
struct ApplicationHistoryTests {
    private static let settings = """
        applications.suspendAfter = "20ms"
        applications.foreground = "multiple"
        """

    /// An application that has been in front, away, frozen, in front again, and has ended.
    private func live(_ id: String, _ client: VarlinkClient) throws {
        try client.launch(id)
        try client.suspend(id)
        try client.order(Applications.Activate.self, id)
        try client.order(Applications.Resign.self, id)
        try client.order(Applications.Terminate.self, id)
    }

    /// The states of an application from the first on, each with how its run ended.
    private func states(
        of id: String?, _ client: VarlinkClient, all: Bool? = nil
    ) throws -> [String] {
        try spans(of: id, client, all: all).reversed().map { span in
            span.state.rawValue + (span.reason.map { " \($0)" } ?? "")
                + (span.endedMs == nil ? " now" : "") + (span.seenMs == nil ? "" : " unseen")
        }
    }

    private func spans(
        of id: String?, _ client: VarlinkClient, all: Bool? = nil
    ) throws -> [Applications.Span] {
        let output = try client.ask(Applications.History.self) { ($0.id, $0.all) = (id, all) }
        #expect(output.truncated == nil)
        return try #require(output.spans)
    }

    private static let whole = [
        "notRunning", "active", "background", "suspended", "active", "inactive",
        "notRunning terminated now",
    ]

    @Test("each state has a span that begins where the one before ends, before and after a restart")
    func course() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        try live("player", client)
        #expect(try states(of: "player", client) == Self.whole)
        let spans = try spans(of: "player", client)
        for (later, earlier) in zip(spans, spans.dropFirst()) {
            let ended = try #require(earlier.endedMs)
            #expect(earlier.beganMs >= ended)
            // That of the one that goes on is counted on another clock.
            if later.endedMs != nil { #expect(later.beganMs == ended) }
        }
        #expect(spans.allSatisfy { ($0.frozen == true) == ($0.state == .suspended) })
        #expect(spans.allSatisfy { $0.application == "player" && $0.owner == Int(getuid()) })
        let next = try daemon.successor(Self.settings, crashes: false)
        #expect(try states(of: "player", next.connect()) == Self.whole)
    }

    @Test("what is past stays when the application is forgotten, and what never was has none")
    func forgotten() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        try live("player", client)
        try client.ask(Applications.Unregister.self) { $0.id = "player" }
        let past = Self.whole.dropLast() + ["notRunning terminated"]
        #expect(try states(of: "player", client) == Array(past))
        try client.register("player")
        #expect(try states(of: "player", client) == past + ["notRunning now"])
        #expect(try states(of: "never", client) == [])
        #expect(try states(of: "", client) == [])
    }

    @Test("a span that was cut by a crash says that nobody saw its end")
    func crash() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        try client.launch("player")
        try client.register("other")
        // The next commit takes the states with it.
        let next = try daemon.successor(Self.settings, crashes: true)
        let other = try next.connect()
        #expect(
            try states(of: "player", other)
                == ["notRunning", "active unseen", "notRunning interrupted now"])
        let cut = try spans(of: "player", other)[1]
        let seen = try #require(cut.seenMs)
        #expect(cut.beganMs >= seen && seen >= cut.endedMs ?? .max)
        #expect(try states(of: "other", other) == ["notRunning now"])
    }

    @Test(
        "a stream has a span a reply, and those that ended long ago are left out where that is asked"
    )
    func stream() throws {
        let daemon = try DaemonProcess(.supervisor, settings: Self.settings)
        let client = try daemon.connect()
        try live("player", client)
        var input = Applications.History.Input()
        var found: [Applications.State] = []
        try client.callMore(Applications.History.self, input) { reply in
            if let span = reply.span { found.append(span.state) }
            return true
        }
        #expect(
            found.map(\.rawValue) == [
                "notRunning", "inactive", "active", "suspended", "background", "active",
                "notRunning",
            ])
        // More than are read from the disk, or wait for their reader, at once.
        try client.order(Applications.Launch.self, "player")
        for _ in 0..<1500 {
            try client.order(Applications.Resign.self, "player")
            try client.order(Applications.Activate.self, "player")
        }
        var count = 0
        try client.callMore(Applications.History.self, input) { reply in
            if reply.span != nil { count += 1 }
            return true
        }
        #expect(count >= 3000)
        input.sinceMs = 0
        let none = try client.call(Applications.History.self, input).spans
        #expect(none?.map(\.endedMs) == [nil])
    }
}
