// Uploads in the background: on leaving the front it begins a background task for it, and ends that
// when done.
//
//     upload-example SOURCE DESTINATION [PIECE_MS [INTERVAL_SECONDS]]
//
// At most once in INTERVAL_SECONDS (600), of which only successful uploads count. DESTINATION is a
// file here, and PIECE_MS (100) the time that the network takes for a piece.

import BackgroundTasksKit

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private var upload = Upload(source: "", destination: "")
    private var interval = Interval(path: "", seconds: 600)
    private var pieceTime: TimeInterval = 0.1
    /// While it uploads.
    private var timer: Timer?
    private var backgroundTask: UIBackgroundTaskIdentifier = .invalid

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let numbers = arguments.dropFirst(2).map { Int($0) ?? 0 }
        guard (2...4).contains(arguments.count), numbers.allSatisfy({ $0 > 0 }) else {
            FileHandle.standardError.write(
                Data(
                    "usage: upload-example SOURCE DESTINATION [PIECE_MS [INTERVAL_SECONDS]]\n".utf8)
            )
            exit(1)
        }
        upload = Upload(source: arguments[0], destination: arguments[1])
        if let milliseconds = numbers.first { pieceTime = TimeInterval(milliseconds) / 1000 }
        interval = Interval(
            path: arguments[1] + ".last", seconds: numbers.dropFirst().first ?? 600)
        return true
    }

    func applicationDidEnterBackground(_ application: UIApplication) {
        guard timer != nil || interval.isOver else {
            return say("no upload: the last one is less than \(interval.seconds) s ago")
        }
        backgroundTask = application.beginBackgroundTask(withName: "upload") { [weak self] in
            self?.stop("stops, since the time is nearly over")
        }
        say("uploads")
        guard timer == nil else { return }
        timer = Timer.scheduledTimer(withTimeInterval: pieceTime, repeats: true) { _ in
            MainActor.assumeIsolated { self.sendPiece() }
        }
    }

    /// In front it needs no background time to go on.
    func applicationWillEnterForeground(_ application: UIApplication) { endBackgroundTask() }

    private func sendPiece() {
        do {
            guard try upload.sendPiece() else { return }
            try interval.start()
            stop("done")
        } catch {
            stop("failed: \(error)")
        }
    }

    private func stop(_ reason: String) {
        timer?.invalidate()
        timer = nil
        say(reason)
        endBackgroundTask()
    }

    private func endBackgroundTask() {
        guard backgroundTask != .invalid else { return }
        UIApplication.shared.endBackgroundTask(backgroundTask)
        backgroundTask = .invalid
    }
}

/// Writes a line, at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
