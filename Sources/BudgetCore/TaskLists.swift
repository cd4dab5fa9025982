internal import Containers

/// The lists that live tasks are in, each in the order of their beginning.
typealias TaskLists = SlotLists<TaskListKind>

/// Whose tasks a list has.
enum TaskListKind: SlotListKind {
    case everybody, owner, holder

    static var count: Int { 3 }

    var place: Int {
        switch self {
        case .everybody: 0
        case .owner: 1
        case .holder: 2
        }
    }
}
