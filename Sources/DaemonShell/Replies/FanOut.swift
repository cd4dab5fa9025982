internal import BudgetCore
internal import Containers
internal import Varlink

/// Events of tasks that are told to very many who follow all tasks, the oldest first: to some of them in a turn, and to
/// the others in the next ones, so that nobody else waits for it.
struct FanOut {
    struct Event {
        let message: SharedMessage
        let task: BackgroundTask
        /// Whether it is about what the task has printed.
        let isOutput: Bool
        /// Whose calls wait where many of its events do.
        let account: OwnerID
        /// Who followed when it happened.
        let followers: [ClientList]
    }

    private var events = Deque<Event>()
    /// Which of the first one's followers are told next.
    private var place = (list: 0, client: 0)

    var isEmpty: Bool { events.isEmpty }

    mutating func append(_ event: Event) { events.append(event) }

    /// Tells some of the followers.
    ///
    /// - Parameters:
    ///   - countMax: at most so many.
    ///   - tell: called for each.
    /// - Returns: the events that all have been told of.
    mutating func tell(atMost countMax: Int, _ tell: (Client, Event) -> Void) -> [Event] {
        var left = countMax
        var told: [Event] = []
        while left > 0, let event = events.first {
            guard place.list < event.followers.count else {
                _ = events.popFirst()
                place = (0, 0)
                told.append(event)
                continue
            }
            let list = event.followers[place.list]
            let end = min(place.client + left, list.placeCount)
            for client in place.client..<end { list[place: client].map { tell($0, event) } }
            left -= end - place.client
            place = end < list.placeCount ? (place.list, end) : (place.list + 1, 0)
        }
        return told
    }
}
