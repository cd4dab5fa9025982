import Foundation
import TaskAPI
import Testing

@Suite("The example poller", .timeLimit(.minutes(15)))
struct PollerTests {
    @Test(
        "it follows a position in front, lets it be in the background, and takes up again",
        arguments: Language.allCases, ["auto", "supervisor"])
    func polling(language: Language, containment: String) throws {
        let example = try LaunchedExample("poller", language, containment) { folder in
            try move(in: folder, to: "52.5 13.4")
            return [folder + "/position", "10"]
        }
        #expect(try example.lines.next(2) == ["polls", "position 52.5 13.4"])
        try move(in: example.daemon.folder, to: "52.6 13.5")
        #expect(try example.lines.next() == "position 52.6 13.5")

        // What lies over it does not send it away.
        try example.order(Applications.Resign.self)
        try move(in: example.daemon.folder, to: "52.7 13.6")
        #expect(try example.lines.next() == "position 52.7 13.6")
        try example.order(Applications.Activate.self)

        for (away, back) in [("0 0", "52.8 13.7"), ("1 1", "52.9 13.8")] {
            try example.order(Applications.EnterBackground.self)
            #expect(try example.lines.next() == "stops")
            try move(in: example.daemon.folder, to: away)
            // It runs on while this is done, and is frozen at its end.
            try example.suspend()
            #expect(try example.present.frozen)
            try move(in: example.daemon.folder, to: back)
            try example.order(Applications.Activate.self)
            #expect(try example.lines.next(2) == ["polls", "position \(back)"])
        }
    }

    private func move(in folder: String, to position: String) throws {
        try "\(position)\n".write(
            toFile: folder + "/position", atomically: true, encoding: .utf8)
    }
}
