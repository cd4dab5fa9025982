internal import JSON
package import TaskAPI
internal import Varlink

/// Shows what happens to applications, one line an event, in columns that stay where they are.
package struct TransitionLines {
    /// The number of the last event.
    private var last = 0
    /// The widest id so far.
    private var idWidth = 8

    package init() {}

    private static let transitionWidth = "notRunning → background".count
    private static let callbackWidth = Applications.Callback.backgroundTimeExpiring.rawValue.count
    private static let payloadWidthMax = 60

    /// Says how many events the stream has left out before this one; `nil` where none.
    package mutating func missed(before event: Applications.Event) -> String? {
        let count = event.number - last - 1
        last = event.number
        guard count > 0 else { return nil }
        return count == 1 ? "1 event missed" : "\(count) events missed"
    }

    /// One line for one event.
    ///
    /// - Parameter time: when it was told, as it is to be shown.
    package mutating func line(_ event: Applications.Event, at time: String, _ style: Style)
        -> String
    {
        let detail = Table.Cell(Self.details(of: event, style).joined(separator: ", ")).text
        let id = VisibleText.oneLine(event.application)
        let callback = event.callback?.rawValue
        guard style.isTerminal else {
            let states = [event.previous.rawValue, event.state.rawValue]
            return ([time, id] + states + [callback ?? Table.nothing, detail])
                .joined(separator: "\t") + "\n"
        }
        idWidth = max(idWidth, TextWidth.of(id))
        var columns = [
            style.paint(time, .grey), Self.padded(id, TextWidth.of(id), to: idWidth),
            Self.transition(event, style),
        ]
        let painted = callback.map { style.paint($0, Self.colour(event.callback)) } ?? ""
        columns.append(Self.padded(painted, callback?.count ?? 0, to: Self.callbackWidth))
        return Self.trimmed((columns + [detail]).joined(separator: "  ")) + "\n"
    }

    private static func transition(_ event: Applications.Event, _ style: Style) -> String {
        let state = style.paint(event.state.rawValue, ApplicationText.colour(event.state))
        guard event.previous != event.state else {
            return padded(state, event.state.rawValue.count, to: transitionWidth)
        }
        let before = event.previous.rawValue + " → "
        return padded(
            before + state, before.count + event.state.rawValue.count, to: transitionWidth)
    }

    private static func colour(_ callback: Applications.Callback?) -> Style.Colour? {
        switch callback {
        case .willTerminate: .red
        case .backgroundTimeExpiring, .taskExpiring: .yellow
        default: nil
        }
    }

    /// What else there is to say.
    private static func details(of event: Applications.Event, _ style: Style) -> [String] {
        var details: [String] = []
        if let away = event.backgroundMs { details.append("away \(TimeText.span(away))") }
        if let left = event.remainingMs { details.append("\(TimeText.span(left)) left") }
        if let badge = event.badge { details.append("badge \(badge)") }
        if let task = event.task, let identifier = event.identifier {
            details.append("task \(task), \(VisibleText.oneLine(identifier))")
        }
        if let delivery = event.deliveryId { details.append("delivery \(delivery)") }
        if let payload = event.payload {
            let text = VisibleText.json(payload.text)
            details.append(style.isTerminal ? TextWidth.cut(text, to: payloadWidthMax) : text)
        }
        if let reason = event.reason { details.append(reason) }
        return details
    }

    private static func padded(_ text: String, _ width: Int, to columns: Int) -> String {
        text + String(repeating: " ", count: max(0, columns - width))
    }

    private static func trimmed(_ line: String) -> String {
        var line = line[...]
        while line.hasSuffix(" ") { line.removeLast() }
        return String(line)
    }
}
