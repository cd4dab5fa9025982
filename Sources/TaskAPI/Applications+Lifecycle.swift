package import Varlink

extension Applications {
    /// Make an application known; answered when it is on disk. A second registration of the same id replaces its
    /// settings, not its state.
    package enum Register: Method {
        package static let name = "org.bgtaskd.Applications.Register"

        /// What `Register` is asked.
        package struct Input: Message {
            package var registration = Registration()

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("registration", &registration)
            }
        }

        package typealias Output = Answer
    }

    /// Start the registered command in a control group of its own: notRunning, inactive, active. Answered when it
    /// is in front, or could not be started.
    package enum Launch: Method {
        package static let name = "org.bgtaskd.Applications.Launch"
        package typealias Input = Reference
        package typealias Output = Answer
    }

    /// Make running processes of the caller's user the application, in the state active; they are suspended
    /// through the systemd unit that they live in. An id that is not registered becomes known by this, without a
    /// command. The units, 16 at most, must hold no other processes, be no login session, and have no watchdog.
    package enum Adopt: Method {
        package static let name = "org.bgtaskd.Applications.Adopt"

        /// What `Adopt` is asked.
        package struct Input: Message {
            package var id = ""
            package var pids: [Int] = []

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("id", &id)
                try fields.field("pids", &pids, in: .processIDs)
            }
        }

        package typealias Output = Answer
    }

    /// Bring to the front; starts or thaws it where needed, and ends what Resign started. If one application of a
    /// user is in front at a time, the other leaves.
    package enum Activate: Method {
        package static let name = "org.bgtaskd.Applications.Activate"
        package typealias Input = Reference
        package typealias Output = Answer
    }

    /// Stay in front without receiving events (a system sheet, a call), until Activate.
    package enum Resign: Method {
        package static let name = "org.bgtaskd.Applications.Resign"
        package typealias Input = Reference
        package typealias Output = Answer
    }

    /// Leave the front.
    package enum EnterBackground: Method {
        package static let name = "org.bgtaskd.Applications.EnterBackground"
        package typealias Input = Reference
        package typealias Output = Answer
    }

    /// End it: willTerminate and SIGTERM, the grace, SIGKILL; a suspended one is killed. Answered when nothing of
    /// it is left.
    package enum Terminate: Method {
        package static let name = "org.bgtaskd.Applications.Terminate"
        package typealias Input = Reference
        package typealias Output = Answer
    }

    /// Forget a registered application that is not running.
    package enum Unregister: Method {
        package static let name = "org.bgtaskd.Applications.Unregister"
        package typealias Input = Reference
        package typealias Output = Empty
    }

    /// Kill suspended applications of the caller as memory pressure would, or of everybody for root: the least
    /// recently used one, or as many as count (1 to 1000000). Answered with their ids at once.
    package enum SimulateMemoryPressure: Method {
        package static let name = "org.bgtaskd.Applications.SimulateMemoryPressure"

        /// What `SimulateMemoryPressure` is asked.
        package struct Input: Message {
            package var count: Int?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("count", &count, in: .counts)
            }
        }

        /// What `SimulateMemoryPressure` answers.
        package struct Output: Message {
            package var terminated: [String] = []

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("terminated", &terminated)
            }
        }
    }
}
