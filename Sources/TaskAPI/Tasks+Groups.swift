package import Varlink

extension Tasks {
    /// What there is of a group: for operators the tasks of all users, for others their own. slots: how many of all
    /// may run at once. running: those that use one of the slots, which the dormant and the stuck do not. paused:
    /// what is queued in it is held back.
    package struct Group: Message {
        package var name = ""
        package var slots = 0
        package var running = 0
        package var queued = 0
        package var paused = false

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("name", &name)
            try fields.field("slots", &slots)
            try fields.field("running", &running)
            try fields.field("queued", &queued)
            try fields.field("paused", &paused)
        }
    }

    /// The groups of the settings, by name.
    package enum Groups: Method {
        package static let name = "org.bgtaskd.Tasks.Groups"
        package typealias Input = Empty

        /// What `Groups` answers.
        package struct Output: Message {
            package var groups: [Group] = []
            package var slots: Int?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("groups", &groups)
                try fields.field("slots", &slots)
            }
        }
    }

    /// Hold back what is queued in a group; what runs is not touched. For operators. It survives a restart of the
    /// daemon.
    package enum PauseGroup: Method {
        package static let name = "org.bgtaskd.Tasks.PauseGroup"
        package typealias Input = GroupReference
        package typealias Output = Empty
    }

    /// Let queued tasks of a paused group start again. For operators.
    package enum ResumeGroup: Method {
        package static let name = "org.bgtaskd.Tasks.ResumeGroup"
        package typealias Input = GroupReference
        package typealias Output = Empty
    }

    /// Have as many slots from now on, whatever the settings say. For operators.
    package enum SetSlots: Method {
        package static let name = "org.bgtaskd.Tasks.SetSlots"

        /// What `SetSlots` is asked.
        package struct Input: Message {
            package var group: String?
            package var slots: Int?
            package var keep: Bool?

            package init() {}

            package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
                try fields.field("group", &group)
                try fields.field("slots", &slots, in: .slotCounts)
                try fields.field("keep", &keep)
            }
        }
        package typealias Output = Empty
    }

    /// What a method is asked that is about one group.
    package struct GroupReference: Message {
        package var group = ""

        package init() {}

        package mutating func visit<V: FieldVisitor>(_ fields: inout V) throws(MessageError) {
            try fields.field("group", &group)
        }
    }
}
