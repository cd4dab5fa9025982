// Keeps its badge right: the number of unread messages, whatever way they came in.
//
//     badge-example INBOX
//
// The inbox is a folder with a file for each unread message. Who sends one puts it there and pushes
// {"message": NAME}. It is told of some messages twice and of others not at all, so it never adds
// one: it counts.

internal import ApplicationKit
internal import FoundationEssentials
internal import JSON
internal import TaskAPI
internal import Varlink

func keepBadge(of inbox: String) throws {
    let application = try Application()
    while let event = try application.nextEvent(), event.callback != .willTerminate {
        var message: String?
        if case .string(let name) = event.payload?["message"] { message = name }
        var unread = try FileManager.default.contentsOfDirectory(atPath: inbox)
        // The user has opened it. The name is from outside: it counts only where the inbox has it.
        if event.callback == .didReceiveNotificationResponse,
            let opened = unread.firstIndex(where: { $0 == message })
        {
            try FileManager.default.removeItem(atPath: inbox + "/" + unread.remove(at: opened))
        }
        try application.setBadge(unread.count)
        if let message, let callback = event.callback {
            say("\(callback) \(message): \(unread.count) unread")
        }
        // From here on it may be suspended again.
        if let delivery = event.deliveryId { try application.delivered(delivery) }
    }
}

run("badge-example INBOX") { try keepBadge(of: $0[0]) }
