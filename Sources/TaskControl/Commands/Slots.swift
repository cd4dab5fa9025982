internal import ArgumentParser
internal import TaskAPI
internal import Varlink

/// Shows and changes how many commands run at once.
struct Slots: Verb {
    static let configuration = CommandConfiguration(
        abstract: "Show how many slots there are, or change it.",
        usage: "bgtaskctl slots [<count>] [<options>]",
        discussion: """
            Each command that runs takes a slot of the daemon, and one of its group. Without a count it prints \
            how many there are. A count holds from now on, whatever the settings say, until the daemon is \
            started anew, with --keep also after that. What runs is not touched. To change it is for operators.

            Example: bgtaskctl slots 8
            Example: bgtaskctl slots 2 --group uploads --keep
            """
    )

    @Argument(help: ArgumentHelp("How many slots there are from now on.", valueName: "count"))
    var count: Int?

    @Option(
        help: ArgumentHelp("The slots of this group.", valueName: "group"),
        completion: .groups)
    var group: String?

    @Flag(help: "Also after the daemon is started anew.")
    var keep = false

    @Flag(help: "As many as the settings say.")
    var reset = false

    @OptionGroup var global: GlobalOptions

    var privilege: Privilege? { count == nil && !reset ? nil : .operators("to change the slots") }

    func validate() throws {
        if let count, !(1...10_000).contains(count) {
            throw ValidationError("the count is a number from 1 to 10000")
        }
        if reset, count != nil { throw ValidationError("give a count or --reset, not both") }
        if keep, count == nil { throw ValidationError("--keep needs a count") }
        if group?.isEmpty == true { throw ValidationError("the name of --group is empty") }
    }

    func perform(_ session: Session) throws(Failure) -> Int32 {
        let connection = try session.connect()
        guard count != nil || reset else { return try show(connection, session.console) }
        var input = Tasks.SetSlots.Input()
        input.group = group
        input.slots = count
        input.keep = keep ? true : nil
        session.console.show(try connection.call(Tasks.SetSlots.self, input), "")
        return 0
    }

    /// One number a line: that of the daemon, and those of the groups behind their names.
    private func show(
        _ connection: DaemonConnection, _ console: Console
    ) throws(Failure) -> Int32 {
        let groups = try connection.call(Tasks.Groups.self, Empty())
        if let group {
            guard let known = groups.groups.first(where: { $0.name == group }) else {
                throw Failure("there is no group \(group); bgtaskctl group list names them")
            }
            console.show(known, "\(known.slots)\n")
            return 0
        }
        var text = groups.slots.map { "\($0)\n" } ?? ""
        for group in groups.groups {
            text += "\(VisibleText.oneLine(group.name))\t\(group.slots)\n"
        }
        console.show(groups, text)
        return 0
    }
}
