internal import BackgroundTime
internal import Foundation
internal import JSON
internal import Synchronization
internal import TaskAPI

/// A message that was sent to the application, or a task that it is to perform.
final class Message: Sendable {
    private let event: Applications.Event
    private let isTold = Mutex(false)

    init(_ event: Applications.Event) { self.event = event }

    /// What its sender has put into it.
    var userInfo: [AnyHashable: Any] {
        guard let text = event.payload?.text,
            let values = try? JSONSerialization.jsonObject(with: Data(text.utf8))
        else { return [:] }
        return values as? [String: Any] ?? [:]
    }

    /// The number that came with it.
    var badge: Int? { event.badge }

    /// The program has finished with it: from here on it may be suspended again.
    ///
    /// - Parameter success: of a task that it was told to perform.
    func isDone(_ success: Bool? = nil) {
        guard let delivery = event.deliveryId,
            isTold.withLock({ isTold in
                defer { isTold = true }
                return !isTold
            })
        else { return }
        var input = Applications.Delivered.Input()
        (input.id, input.deliveryId, input.success) = (event.application, delivery, success)
        _ = try? Daemon.endpoint.call(Applications.Delivered.self, input)
    }
}
