import Foundation
import TaskAPI
import Testing

@Suite("The example badge", .timeLimit(.minutes(15)))
struct BadgeTests {
    @Test(
        "its badge is the number of unread messages, whatever way they came in",
        arguments: Language.allCases, ["auto", "supervisor"])
    func badge(language: Language, containment: String) throws {
        let example = try LaunchedExample("badge", language, containment) { folder in
            try FileManager.default.createDirectory(
                atPath: folder + "/inbox", withIntermediateDirectories: false)
            return [folder + "/inbox"]
        }

        // In front: an alert, and a second one that is tapped.
        try receive("one", example)
        #expect(try example.push(.alert, message: "one").receipt == .delivered)
        #expect(try example.lines.next() == "willPresentNotification one: 1 unread")
        try receive("two", example)
        #expect(try example.push(.alert, .tapped, message: "two").receipt == .delivered)
        #expect(try example.lines.next() == "willPresentNotification two: 2 unread")
        #expect(try example.lines.next() == "didReceiveNotificationResponse two: 1 unread")
        #expect(try example.present.badge == 1)

        // In the background it counts at each callback. Its line comes when it has counted for the last time: what it
        // still had on its way when it is frozen could be taken after the next badge.
        try example.order(Applications.EnterBackground.self)
        #expect(try example.push(.silent, message: "two").receipt == .delivered)
        #expect(try example.lines.next() == "didReceiveRemoteNotificationFetch two: 1 unread")
        try example.waitForSuspension()

        // Suspended: an alert that is only shown brings its badge itself.
        try receive("three", example)
        #expect(try example.push(.alert, message: "three", badge: 2).receipt == .dropped)
        #expect(try example.present.badge == 2)
        #expect(try example.present.frozen)

        // A silent one wakes it until it says that it is done.
        try receive("four", example)
        #expect(try example.push(.silent, message: "four").receipt == .delivered)
        #expect(
            try example.lines.next() == "didReceiveRemoteNotificationFetch four: 3 unread")
        try example.waitForSuspension()
        #expect(try example.present.badge == 3)

        // The shown one is tapped after all.
        #expect(try example.push(.alert, .tapped, message: "three").receipt == .delivered)
        #expect(try example.lines.next() == "didReceiveNotificationResponse three: 2 unread")
        #expect(try example.present.badge == 2)

        // Not running: the tap launches it, and is told once.
        try example.order(Applications.Terminate.self)
        #expect(try example.present.badge == 2)
        #expect(try example.push(.alert, .tapped, message: "four").receipt == .delivered)
        #expect(try example.lines.next() == "didReceiveNotificationResponse four: 1 unread")
        #expect(try example.push(.alert, .tapped, message: "../lines").receipt == .delivered)
        #expect(
            try example.lines.next(2) == [
                "willPresentNotification ../lines: 1 unread",
                "didReceiveNotificationResponse ../lines: 1 unread",
            ])
        #expect(try example.present.badge == 1)
        #expect(FileManager.default.fileExists(atPath: example.lines.path))
    }

    @Test(
        "a badge that a sender got wrong is put right", arguments: Language.allCases)
    func wrongBadge(language: Language) throws {
        let example = try LaunchedExample("badge", language, "auto") { folder in
            try FileManager.default.createDirectory(
                atPath: folder + "/inbox", withIntermediateDirectories: false)
            return [folder + "/inbox"]
        }
        try receive("one", example)
        #expect(try example.push(.alert, message: "one", badge: 7).receipt == .delivered)
        try example.wait { $0.callback == .badgeChanged && $0.badge == 7 }
        try example.wait { $0.callback == .badgeChanged && $0.badge == 1 }
    }

    private func receive(_ message: String, _ example: LaunchedExample) throws {
        try "hello\n".write(
            toFile: example.daemon.folder + "/inbox/" + message, atomically: true,
            encoding: .utf8)
    }
}
