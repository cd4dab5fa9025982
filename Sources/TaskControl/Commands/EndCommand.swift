package import TaskAPI

/// A command that runs when a task has ended: as a task that comes after it, however it ends.
package struct EndCommand {
    /// What is submitted.
    package let work: Tasks.Work

    private static let budgetMs = 60_000
    private static let graceMs = 5_000
    /// As many bytes as a name may have (`limits.nameBytesMax`), less what is added.
    private static let nameBytesMax = 250

    /// What the command finds in its environment is told by the daemon as ID=OUTCOME, also where both are restarted.
    private static let shell =
        "BGTASK_ENDED_ID=${BGTASK_AFTER%%=*} BGTASK_ENDED_OUTCOME=${BGTASK_AFTER#*=}; "
        + "export BGTASK_ENDED_ID BGTASK_ENDED_OUTCOME; exec /bin/sh -c \"$1\""

    private static let prefix = ["/bin/sh", "-c", shell, "on-end"]

    /// The script of a command that was submitted like this; `nil` for others.
    static func script(of command: [String]) -> String? {
        command.count == prefix.count + 1 && command.starts(with: prefix) ? command.last : nil
    }

    /// The name of a command that comes after a task of this name.
    static func name(after name: String) -> String {
        var name = Substring(name)
        while name.utf8.count > EndCommand.nameBytesMax { name = name.dropLast() }
        return name + " end"
    }

    /// - Parameters:
    ///   - script: for /bin/sh -c.
    ///   - id: the task that it comes after.
    ///   - ended: what was submitted as that task.
    package init(_ script: String, after id: Int, _ ended: Tasks.Work) {
        var work = Tasks.Work()
        work.name = EndCommand.name(after: ended.name)
        work.command = EndCommand.prefix + [script]
        work.directory = ended.directory
        var environment = ended.environment ?? [:]
        environment["BGTASK_ENDED_NAME"] = ended.name
        work.environment = environment
        var budget = Tasks.Budget()
        (budget.durationMs, budget.graceMs) = (EndCommand.budgetMs, EndCommand.graceMs)
        work.budget = budget
        work.afterAny = [id]
        self.work = work
    }
}
