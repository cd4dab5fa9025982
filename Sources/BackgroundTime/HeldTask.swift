package import TaskAPI

/// What a ``TaskHolder`` tells of a task that it holds, on whatever thread.
package protocol HeldTask: AnyObject, Sendable {
    /// It has begun; what happens to it comes after this. The holder may not be called from here.
    func begun(as id: Int)

    /// Something has happened to it.
    func take(_ event: Tasks.Event)

    /// The daemon has gone, and no time is promised any more.
    func lost()
}
