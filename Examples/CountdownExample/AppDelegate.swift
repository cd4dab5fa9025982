// A countdown that stays right over a time away, in which it does not run.
//
//     countdown-example [SECONDS]
//
// Without SECONDS it takes 5 minutes.

import BackgroundTasksKit

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
    private var countdown = Countdown(seconds: 300)

    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        let arguments = CommandLine.arguments.dropFirst()
        let numbers = arguments.compactMap { Int($0) }.filter { $0 > 0 }
        guard numbers.count == arguments.count, numbers.count <= 1 else {
            FileHandle.standardError.write(
                Data("usage: countdown-example [SECONDS]\n".utf8))
            exit(1)
        }
        if let seconds = numbers.first { countdown = Countdown(seconds: seconds) }
        return true
    }

    func applicationDidBecomeActive(_ application: UIApplication) { countdown.start() }

    func applicationDidEnterBackground(_ application: UIApplication) { countdown.leave() }

    func applicationWillEnterForeground(_ application: UIApplication) { countdown.comeBack() }
}

/// Writes a line, at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
