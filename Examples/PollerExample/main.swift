// Follows a position while it is in front, and lets it be in the background.
//
//     poller-example POSITION_FILE [INTERVAL_MS]
//
// Looks every second if not told otherwise, and says the position where it is another one.

internal import ApplicationKit
internal import FoundationEssentials
internal import TaskAPI

func follow(_ file: String, every milliseconds: Int) throws {
    let application = try Application()
    var polls = false
    var position: Substring?
    while true {
        let event = try application.nextEvent(within: polls ? milliseconds : nil)
        if event?.callback == .willTerminate { return }
        if application.isInFront != polls {
            polls.toggle()
            say(polls ? "polls" : "stops")
        }
        guard polls else { continue }
        let line = try String(contentsOfFile: file, encoding: .utf8).prefix { $0 != "\n" }
        if line != position { say("position \(line)") }
        position = line
    }
}

run("poller-example POSITION_FILE [INTERVAL_MS]") {
    try follow($0[0], every: $0.number(1, or: 1000))
}
