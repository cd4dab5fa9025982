// Follows a position while it is in front, and lets it be in the background.
//
//     poller-example POSITION_FILE [INTERVAL_MS]
//
// Looks every second if not told otherwise, and says the position where it is another one.

import BackgroundTasksKit

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private var file = ""
    private var interval: TimeInterval = 1
    private var position: Substring?
    private var timer: Timer?

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let arguments = CommandLine.arguments.dropFirst()
        let milliseconds = arguments.count == 2 ? arguments.last.flatMap { Int($0) } : 1000
        guard let file = arguments.first, arguments.count <= 2, let milliseconds, milliseconds > 0
        else {
            FileHandle.standardError.write(
                Data("usage: poller-example POSITION_FILE [INTERVAL_MS]\n".utf8))
            exit(1)
        }
        (self.file, interval) = (file, TimeInterval(milliseconds) / 1000)
        return true
    }

    func applicationDidBecomeActive(_ application: UIApplication) { poll() }

    func applicationWillEnterForeground(_ application: UIApplication) { poll() }

    func applicationDidEnterBackground(_ application: UIApplication) {
        timer?.invalidate()
        timer = nil
        say("stops")
    }

    private func poll() {
        guard timer == nil else { return }
        say("polls")
        timer = Timer.scheduledTimer(withTimeInterval: interval, repeats: true) { _ in
            MainActor.assumeIsolated { self.look() }
        }
        look()
    }

    private func look() {
        let text = try? String(contentsOfFile: file, encoding: .utf8)
        guard let line = text?.prefix(while: { $0 != "\n" }), line != position else { return }
        position = line
        say("position \(line)")
    }
}

/// Writes a line, at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
