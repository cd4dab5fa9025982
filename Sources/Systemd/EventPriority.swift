/// Which of several sources with something to do is dispatched first.
///
/// The order is part of the design: a handler that is due is never delayed by a flood of clients.
package enum EventPriority: Int64, CaseIterable, Sendable {
    case timers = -80
    case signals = -60
    /// Messages to the service manager, which are rare. Before the processes and the clients, whose flood would
    /// otherwise keep them back for ever.
    case health = -40
    case processes = -20
    case clients = 0
    case background = 100
    /// After everything that came from outside. A deferred source belongs here: libsystemd dispatches one that is
    /// scheduled again in its own turn before all others of its priority, for ever.
    case leftovers = 200

    /// Before all of the above: what ends a turn is done before the next source is dispatched.
    static let afterTurn: Int64 = -100
}

/// What a descriptor is watched for, and what was seen on it: the bits of epoll_ctl(2).
package struct DescriptorEvents: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// EPOLLIN: data, a connection, or an end to be read.
    package static let readable = Self(rawValue: 0x1)
    /// EPOLLPRI: an exceptional condition, such as a pressure trigger that fired.
    package static let urgent = Self(rawValue: 0x2)
    /// EPOLLOUT: room to write.
    package static let writable = Self(rawValue: 0x4)
    /// EPOLLERR: an error; reported without being asked for.
    package static let error = Self(rawValue: 0x8)
    /// EPOLLHUP: both directions are closed; reported without being asked for.
    package static let hangUp = Self(rawValue: 0x10)
    /// EPOLLRDHUP: the peer will send no more.
    package static let peerClosed = Self(rawValue: 0x2000)
    /// EPOLLET: report changes instead of states.
    package static let edgeTriggered = Self(rawValue: 0x8000_0000)
}
