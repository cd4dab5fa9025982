/// Clients in the order of their coming. Adding and taking out take constant time, however many there are.
package struct ClientList {
    /// Those who left are gaps, until there are more of them than of clients.
    private var places: [Client?] = []
    private var indices: [UInt64: Int] = [:]

    package init() {}

    package var count: Int { indices.count }
    package var isEmpty: Bool { indices.isEmpty }

    /// Those who are there have places below this number; some places are vacant.
    var placeCount: Int { places.count }

    subscript(place place: Int) -> Client? { places[place] }

    /// All of them.
    package var all: some Sequence<Client> { places.lazy.compactMap(\.self) }

    /// Adds a client, which is in the list once.
    package mutating func add(_ client: Client) {
        guard indices[client.number] == nil else { return }
        indices[client.number] = places.count
        places.append(client)
    }

    package mutating func remove(_ client: Client) {
        guard let index = indices[client.number], places[index] === client else { return }
        indices[client.number] = nil
        places[index] = nil
        if places.count > 16, places.count > 2 * indices.count { closeGaps() }
    }

    private mutating func closeGaps() {
        places.removeAll { $0 == nil }
        for (index, client) in places.enumerated() {
            if let client { indices[client.number] = index }
        }
    }
}
