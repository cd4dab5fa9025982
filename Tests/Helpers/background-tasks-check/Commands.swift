import BackgroundTasksKit

/// Writes a line at once, where the test reads.
func say(_ line: String) {
    guard CommandLine.arguments.count > 2,
        let file = FileHandle(forWritingAtPath: CommandLine.arguments[2])
    else { return }
    file.write(Data((line + "\n").utf8))
}

@MainActor private var held: [UIBackgroundTaskIdentifier] = []
@MainActor private var dates: [String: Date] = [:]
@MainActor private var continued: BGContinuedProcessingTask?

/// Carries out a command: a verb and its arguments.
@MainActor func perform(_ line: String) {
    let words = line.split(separator: " ").map(String.init)
    let name = words.count > 1 ? words[1] : ""
    let seconds = words.count > 2 ? TimeInterval(words[2]) : nil
    switch words.first {
    case "begin":
        let identifier = UIApplication.shared.beginBackgroundTask(withName: name) {
            say("expired \(name), \(Thread.isMainThread)")
        }
        held.append(identifier)
        say("begun \(identifier != .invalid)")
    case "end":
        UIApplication.shared.endBackgroundTask(held.removeFirst())
        say("ended")
    case "late":
        // The main thread waits here, so that the handler comes behind the end.
        perform("begin \(name)")
        _ = readLine()
        perform("end")
        DispatchQueue.main.async { say("no handler was called") }
    case "remaining":
        let left = UIApplication.shared.backgroundTimeRemaining
        say(left == .greatestFiniteMagnitude ? "no limit" : "a limit")
    case "activity":
        ProcessInfo.processInfo.performExpiringActivity(withReason: "activity") {
            say("activity, expired: \($0)")
        }
    case "wait":
        // As in extensions: the block lasts until its time is nearly over.
        let isOver = DispatchSemaphore(value: 0)
        ProcessInfo.processInfo.performExpiringActivity(withReason: "waiting") { expired in
            say("waits, expired: \(expired)")
            if expired { isOver.signal() } else { isOver.wait() }
        }
    case "hold":
        let activity = ProcessInfo.processInfo.beginActivity(options: .background, reason: name)
        ProcessInfo.processInfo.endActivity(activity)
        say("held")
    case "refresh":
        let request = BGAppRefreshTaskRequest(identifier: name)
        request.earliestBeginDate = seconds.map { Date(timeIntervalSinceNow: $0) }
        submit(request)
    case "process":
        let request = BGProcessingTaskRequest(identifier: name)
        request.earliestBeginDate = seconds.map { Date(timeIntervalSinceNow: $0) }
        request.requiresExternalPower = true
        request.requiresNetworkConnectivity = true
        submit(request)
    case "pending":
        BGTaskScheduler.shared.getPendingTaskRequests { requests in
            DispatchQueue.main.async {
                MainActor.assumeIsolated {
                    say(requests.map(describe).sorted().joined(separator: ", "))
                }
            }
        }
    case "cancel":
        BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: name)
        say("cancelled")
    case "cancelAll":
        BGTaskScheduler.shared.cancelAllTaskRequests()
        say("cancelled")
    case "export":
        let request = BGContinuedProcessingTaskRequest(
            identifier: "export", title: "Export", subtitle: "8 files")
        request.strategy = .fail
        submit(request)
    case "finish":
        continued?.progress.completedUnitCount = 8
        continued?.setTaskCompleted(success: true)
        say("finished")
    case "register": UIApplication.shared.registerForRemoteNotifications()
    case "settings":
        UNUserNotificationCenter.current().getNotificationSettings { settings in
            let isGranted = settings.authorizationStatus == .authorized
            say("granted \(isGranted), badge \(settings.badgeSetting == .enabled)")
        }
    default: say("no such command")
    }
}

@MainActor private func submit(_ request: BGTaskRequest) {
    dates[request.identifier] = request.earliestBeginDate
    do {
        try BGTaskScheduler.shared.submit(request)
        say("submitted")
    } catch BGTaskScheduler.Error.unavailable {
        say("unavailable")
    } catch {
        say("\(error)")
    }
}

/// A request, and whether its date is the one that it was submitted with.
@MainActor private func describe(_ request: BGTaskRequest) -> String {
    let isSame =
        switch (request.earliestBeginDate, dates[request.identifier]) {
        case (let given?, let submitted?): abs(given.timeIntervalSince(submitted)) < 0.5
        case (nil, nil): true
        default: false
        }
    let processing = request as? BGProcessingTaskRequest
    let needs = processing.map { " \($0.requiresExternalPower) \($0.requiresNetworkConnectivity)" }
    return "\(request.identifier)\(needs ?? "") \(isSame)"
}

/// What performs the tasks, as Apple's sample has it.
@MainActor func registerTasks() {
    let scheduler = BGTaskScheduler.shared
    scheduler.register(forTaskWithIdentifier: "refresh", using: .main) { task in
        MainActor.assumeIsolated {
            guard let task = task as? BGAppRefreshTask else { return say("another task") }
            say("refreshes, \(UIApplication.shared.applicationState)")
            perform("refresh refresh 3600")
            perform("remaining")
            task.expirationHandler = {
                say("expiring")
                task.setTaskCompleted(success: false)
                DispatchQueue.main.async { say("behind its completion") }
            }
        }
    }
    scheduler.register(forTaskWithIdentifier: "clean", using: nil) { task in
        say("cleans, \(task is BGProcessingTask)")
        task.setTaskCompleted(success: true)
    }
    scheduler.register(forTaskWithIdentifier: "export", using: .main) { task in
        MainActor.assumeIsolated {
            guard let task = task as? BGContinuedProcessingTask else { return say("another task") }
            continued = task
            task.progress.totalUnitCount = 8
            task.progress.completedUnitCount = 3
            task.updateTitle("Export", subtitle: "3 of 8 files")
            task.expirationHandler = { say("export expires") }
            say("exports")
        }
    }
    let isNew = scheduler.register(forTaskWithIdentifier: "clean", using: nil) { _ in }
    if isNew { say("registered twice") }
}
