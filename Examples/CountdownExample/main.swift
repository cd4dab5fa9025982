// A countdown that stays right over a time away, in which it does not run.
//
//     countdown-example [SECONDS]
//
// Without SECONDS it takes 5 minutes.

internal import ApplicationKit
internal import TaskAPI

/// Minutes and seconds: 4:59, or 4:58.250.
func clock(_ milliseconds: Int) -> String {
    func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }
    let (seconds, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    let fraction = rest == 0 ? "" : ".\(padded(rest, 3))"
    return "\(seconds / 60):\(padded(seconds % 60, 2))\(fraction)"
}

func countDown(_ seconds: Int) throws {
    var remaining = seconds * 1000
    let application = try Application()
    var since: Int?  // when the present second began, in front
    while remaining > 0 {
        let second = remaining % 1000 == 0 ? 1000 : remaining % 1000
        let event = try application.nextEvent(within: since.map { $0 + second - now() })
        guard let event else {
            remaining -= second
            since? += second
            say(clock(remaining))
            continue
        }
        if !application.isInFront, let began = since {
            // No more than this second: whoever reads of it late was away, which counts on the
            // return.
            remaining -= min(now() - began, second)
            since = nil
            say("leaves with \(clock(remaining))")
        }
        if event.callback == .willEnterForeground, let away = event.backgroundMs {
            remaining = max(remaining - away, 0)
            say("was away for \(clock(away))")
        }
        if event.callback == .willTerminate { return }
        if application.isInFront, since == nil {
            since = now()
            say(clock(remaining))
        }
    }
    say("the time is over")
}

run("countdown-example [SECONDS]") { try countDown($0.number(0, or: 300)) }
