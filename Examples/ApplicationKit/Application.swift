internal import Glibc
package import TaskAPI
internal import Varlink

/// This program as bgtaskd knows it, which has launched it.
///
///     bgtaskctl app register NAME -- COMMAND
///     bgtaskctl app launch NAME
package final class Application {
    package let id: String
    package private(set) var isInFront = false
    /// The connection that is told is busy with that; a second one asks, and holds the tasks.
    private let told: VarlinkClient
    private let asking: VarlinkClient

    package init() throws {
        id = try Application.variable("BGTASK_APPLICATION")
        let socket = try Application.variable("BGTASK_SOCKET")
        told = try VarlinkClient(address: socket)
        asking = try VarlinkClient(address: socket)
        var watch = Applications.Watch.Input()
        watch.id = id
        try told.send(Applications.Watch.self, watch, more: true)
    }

    /// Waits for what happens next; `nil` where that takes longer than so many milliseconds.
    ///
    /// The first event tells the present state. What the program has missed since its launch
    /// follows, and then what happens, in its order. There is no other after `willTerminate`.
    package func nextEvent(within milliseconds: Int? = nil) throws -> Applications.Event? {
        var reply = try told.receiveIfReady(Applications.Watch.self)
        if reply == nil {
            var socket = pollfd(fd: told.descriptor, events: Int16(POLLIN), revents: 0)
            let patience = milliseconds.map { Int32(clamping: max($0, 0)) } ?? -1
            guard poll(&socket, 1, patience) != 0 else { return nil }
            reply = try told.receive(Applications.Watch.self)
        }
        guard let event = reply?.output.event else { return nil }
        isInFront = event.state == .inactive || event.state == .active
        return event
    }

    /// Borrows time: until its end the application is not suspended.
    ///
    /// - Returns: the task. It ends with this program, if not before.
    package func begin(_ name: String) throws -> Int {
        var begin = Tasks.Begin.Input()
        begin.name = name
        begin.application = id
        return try asking.call(Tasks.Begin.self, begin).id
    }

    /// Gives the time back.
    package func end(_ task: Int) throws {
        var end = Tasks.End.Input()
        end.id = task
        _ = try asking.call(Tasks.End.self, end)
    }

    /// Sets the number that the user sees on the application.
    package func setBadge(_ number: Int) throws {
        var badge = Applications.SetBadge.Input()
        badge.id = id
        badge.badge = number
        _ = try asking.call(Applications.SetBadge.self, badge)
    }

    /// Says that it is done with a message, for which that is owed.
    package func delivered(_ delivery: Int) throws {
        var delivered = Applications.Delivered.Input()
        delivered.id = id
        delivered.deliveryId = delivery
        _ = try asking.call(Applications.Delivered.self, delivered)
    }

    private static func variable(_ name: String) throws -> String {
        guard let value = getenv(name) else {
            throw Failure("there is no \(name); see bgtaskctl help app launch")
        }
        return String(cString: value)
    }
}
