/// The connections of all clients, each found at once by the token that the epoll has of it.
struct Clients {
    private var places: [Client?] = []
    private var freePlaces: [Int] = []
    private(set) var count = 0

    /// What the tokens of clients have and those of others do not, which are small numbers.
    private static let mark: UInt64 = 1 << 63

    /// All of them.
    var all: some Sequence<Client> { places.lazy.compactMap(\.self) }

    /// The client with a token; `nil` where it is one of something else.
    subscript(token: UInt64) -> Client? {
        guard token >= Clients.mark else { return nil }
        let place = Int(truncatingIfNeeded: token ^ Clients.mark)
        return place < places.count ? places[place] : nil
    }

    /// Adds a client, and gives it its token. Another has that when it is removed; until then the epoll has to
    /// have forgotten it.
    mutating func add(_ client: Client) {
        let place = freePlaces.popLast() ?? places.count
        client.token = Clients.mark | UInt64(place)
        if place < places.count { places[place] = client } else { places.append(client) }
        count += 1
    }

    /// Takes a client out.
    ///
    /// - Returns: whether it was there.
    mutating func remove(_ client: Client) -> Bool {
        guard self[client.token] === client else { return false }
        let place = Int(truncatingIfNeeded: client.token ^ Clients.mark)
        places[place] = nil
        freePlaces.append(place)
        count -= 1
        return true
    }
}
