/// Clients that may begin another operation; who waits longest comes first.
struct IdleRing {
    private let places: UnsafeMutablePointer<Int>
    private let capacity: Int
    private var first = 0
    private var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        places = .allocate(capacity: capacity)
        places.initialize(repeating: 0, count: capacity)
    }

    var isFull: Bool { count == capacity }

    /// Must have room.
    mutating func append(_ client: Int) {
        places[(first + count) % capacity] = client
        count += 1
    }

    mutating func takeFirst() -> Int? {
        guard count > 0 else { return nil }
        let client = places[first]
        first = (first + 1) % capacity
        count -= 1
        return client
    }
}
