public import Foundation

extension NotificationCenter {
    /// The notifications of this name from now on, which Foundation has on Apple's systems alone. Of those that nobody
    /// has taken yet the newest 64 are kept.
    public func notifications(
        named name: Notification.Name, object: AnyObject? = nil
    ) -> AsyncStream<Notification> {
        let (stream, continuation) = AsyncStream<Notification>.makeStream(
            bufferingPolicy: .bufferingNewest(64))
        // It is only given back.
        nonisolated(unsafe) let observer = addObserver(
            forName: name, object: object, queue: nil
        ) { notification in
            // As with any observer, it is for the poster and the reader to share it rightly.
            nonisolated(unsafe) let notification = notification
            continuation.yield(notification)
        }
        continuation.onTermination = { _ in self.removeObserver(observer) }
        return stream
    }
}
