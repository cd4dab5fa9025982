internal import Glibc
package import Systemd

/// Whose entries of the journal are believed to be the daemon's.
///
/// Any process may write an entry with any field, BGTASK_ID included; the fields that begin with an
/// underscore are journald's word about the writer. The unit alone says nothing: the tasks of all users
/// are in the daemon's unit. So the writer must have the daemon's uid, which is root's in the system and
/// one's own otherwise, and be in the daemon's unit besides, so that another program of that user is not
/// taken for it; and it must not be in the group of a task, so that no task of that user is either.
/// Beyond that, whoever has the daemon's uid can do as it pleases with the daemon itself.
package struct JournalSource: Equatable {
    package let user: UInt32
    /// The trusted fields that may name the unit.
    package let unitFields: [String]
    package let unit: String

    package static let defaultUnit = "bgtaskd.service"
    /// What the name of the group begins with that has the groups of the tasks, below the unit's.
    private static let taskGroups = "bgtaskd-"

    /// - Throws: where a socket was named that nobody has made.
    package init(_ choice: SocketChoice, unit: String) throws(Failure) {
        self.unit = unit.contains(".") ? unit : unit + ".service"
        switch choice.origin {
        case .system:
            user = 0
            unitFields = ["_SYSTEMD_UNIT"]
        case .user:
            user = geteuid()
            unitFields = ["_SYSTEMD_USER_UNIT"]
        case .given:
            var status = stat()
            guard stat(choice.path, &status) == 0 else {
                throw Failure(
                    "whose daemon listens at \(choice.path) is not known (\(ErrorText.of(errno))); "
                        + "give --system or --user")
            }
            user = status.st_uid
            unitFields = ["_SYSTEMD_UNIT", "_SYSTEMD_USER_UNIT"]
        }
    }

    /// Opens the journal before the first entry about a task, or about anything.
    func reader(of task: Int?) throws(Failure) -> JournalReader {
        let aboutTask = task.map {
            JournalReader.Match(JournalField.taskID.name, String($0))
        }
        let reader: JournalReader
        do throws(SystemdError) {
            reader = try JournalReader(
                user == 0 ? .system : .all,
                all: [
                    .init("_UID", String(user)), aboutTask,
                ].compactMap(\.self),
                any: unitFields.map { .init($0, unit) })
        } catch {
            throw Failure("cannot read the journal: \(error)")
        }
        if reader.isEmpty { throw refusal(task) }
        return reader
    }

    /// Whether the writer of an entry that the reader found was the daemon itself.
    package func believes(_ record: JournalRecord) -> Bool {
        let groups = record["_SYSTEMD_CGROUP"]?.split(separator: "/") ?? []
        let below = groups.drop { $0 != unit }.dropFirst()
        return !below.contains { $0.hasPrefix(Self.taskGroups) }
    }

    private func refusal(_ task: Int?) -> Failure {
        guard JournalReader.isKept, geteuid() != 0 else {
            return Failure("there is no journal on this machine")
        }
        let whose = user == 0 ? "the system's journal" : "a journal with entries of that daemon"
        let kept = task.map {
            "; bgtaskctl logs \($0) without --journal shows what the daemon keeps"
        }
        return Failure(
            "you may not read \(whose), but members of the group systemd-journal may"
                + (kept ?? ""))
    }
}
