import Foundation
import TaskAPI
import Testing

@Suite("The example upload", .timeLimit(.minutes(15)))
struct UploadTests {
    private static let containments = ["auto", "supervisor"]
    private static let content = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0) })
    private static let sending = [
        "uploads", "sent 65536 of 150000 bytes", "sent 131072 of 150000 bytes",
        "sent 150000 of 150000 bytes", "done",
    ]

    @Test(
        "it borrows the time it needs, gives it back, and uploads once in 600 s, killed or not",
        arguments: Language.allCases, containments)
    func once(language: Language, containment: String) throws {
        let example = try launch(language, containment, pieceMs: 10)
        try example.order(Applications.EnterBackground.self)
        #expect(try example.lines.next(5) == UploadTests.sending)
        try example.waitForSuspension()
        #expect(try example.present.frozen)
        #expect(try example.outcomes(of: "upload") == [.completed])
        #expect(try content(example, "there") == UploadTests.content)

        let refusal = "no upload: the last one is less than 600 s ago"
        try example.order(Applications.Activate.self)
        try example.order(Applications.EnterBackground.self)
        #expect(try example.lines.next() == refusal)

        try example.suspend()
        #expect(try example.simulateMemoryPressure() == ["upload"])
        try example.wait { $0.state == .notRunning }
        let launched = try example.order(Applications.Launch.self)
        #expect(launched.lastTermination?.reason == .memoryPressure)
        try example.order(Applications.EnterBackground.self)
        #expect(try example.lines.next() == refusal)
        #expect(try example.outcomes(of: "upload") == [.completed])
    }

    @Test("an upload that failed does not count", arguments: Language.allCases)
    func failure(language: Language) throws {
        let example = try launch(language, "auto", pieceMs: 10, destination: "new/there")
        try example.order(Applications.EnterBackground.self)
        #expect(
            try example.lines.next(2) == ["uploads", "failed: No such file or directory"])
        try example.waitForSuspension()
        try FileManager.default.createDirectory(
            atPath: example.daemon.folder + "/new", withIntermediateDirectories: false)
        try example.order(Applications.Activate.self)
        try example.order(Applications.EnterBackground.self)
        #expect(try example.lines.next(5) == UploadTests.sending)
    }

    @Test(
        "the interval goes on while it is away, and then it uploads again",
        arguments: Language.allCases)
    func interval(language: Language) throws {
        let example = try launch(language, "auto", pieceMs: 10, intervalSeconds: 2)
        let begin = ContinuousClock.now
        try example.order(Applications.EnterBackground.self)
        #expect(try example.lines.next(5) == UploadTests.sending)
        try example.waitForSuspension()

        var line = ""
        repeat {
            try example.order(Applications.Activate.self)
            try example.order(Applications.EnterBackground.self)
            line = try example.lines.next()
            if line != "uploads" {
                #expect(line == "no upload: the last one is less than 2 s ago")
                try example.suspend()
            }
        } while line != "uploads" && begin.duration(to: .now) < .seconds(60)
        #expect(line == "uploads")
        #expect(begin.duration(to: .now) >= .seconds(2))
    }

    @Test(
        "told that the time is nearly over it keeps what it has, and goes on from there",
        arguments: Language.allCases)
    func expiry(language: Language) throws {
        // Ten seconds to begin in, and half a minute to stop in.
        let example = try launch(
            language, "auto", pieceMs: 100, size: 1 << 40,
            settings: "backgroundTime = \"40s\"\ngrace = \"30s\"")
        try example.order(Applications.EnterBackground.self)
        #expect(try example.lines.next() == "uploads")
        var sent = "", line = ""
        repeat {
            sent = line
            line = try example.lines.next()
        } while line.hasPrefix("sent ")
        #expect(line == "stops, since the time is nearly over")
        try example.waitForSuspension()
        #expect(try example.outcomes(of: "upload") == [.expired])
        let kept = try content(example, "there.part").count
        #expect(kept > 0)
        #expect(sent == "sent \(kept) of \(1 << 40) bytes")

        try example.order(Applications.Activate.self)
        try example.order(Applications.EnterBackground.self)
        #expect(
            try example.lines.next(2)
                == ["uploads", "sent \(kept + 65536) of \(1 << 40) bytes"])
    }

    @Test("in front it goes on without borrowed time", arguments: Language.allCases)
    func returning(language: Language) throws {
        let example = try launch(language, "auto", pieceMs: 10, size: 1 << 40)
        try example.order(Applications.EnterBackground.self)
        #expect(try example.lines.next() == "uploads")
        try example.order(Applications.Activate.self)
        let begin = ContinuousClock.now
        while try example.present.tasks > 0 {
            #expect(try example.lines.next().hasPrefix("sent "))
            try #require(begin.duration(to: .now) < .seconds(60), "it holds its task still")
        }
        #expect(try example.outcomes(of: "upload") == [.completed])
        try example.order(Applications.EnterBackground.self)
        var line = ""
        repeat { line = try example.lines.next() } while line.hasPrefix("sent ")
        #expect(line == "uploads")
    }

    /// Launches it with a file to upload: the content, or so many bytes of nothing.
    private func launch(
        _ language: Language, _ containment: String, pieceMs: Int, size: UInt64? = nil,
        destination: String = "there", intervalSeconds: Int? = nil, settings: String = ""
    ) throws -> LaunchedExample {
        try LaunchedExample("upload", language, containment, settings: settings) { folder in
            try UploadTests.content.write(to: URL(fileURLWithPath: folder + "/here"))
            if let size {
                let file = try FileHandle(
                    forWritingTo: URL(fileURLWithPath: folder + "/here"))
                try file.truncate(atOffset: 0)
                try file.truncate(atOffset: size)
            }
            let interval = intervalSeconds.map { [String($0)] } ?? []
            return [folder + "/here", folder + "/" + destination, String(pieceMs)] + interval
        }
    }

    private func content(_ example: LaunchedExample, _ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: example.daemon.folder + "/" + name))
    }
}
