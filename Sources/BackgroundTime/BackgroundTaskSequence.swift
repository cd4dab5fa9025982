/// What the daemon tells one after the other. It is asked when an iterator is made, once for each, and ends with the
/// iterator, or when the Swift task that reads is cancelled.
public struct BackgroundTaskSequence<Element: Sendable>: AsyncSequence, Sendable {
    /// What can go wrong.
    public typealias Failure = BackgroundTimeError

    private let start: @Sendable () -> ReplyStream<Element>

    init(_ start: @escaping @Sendable () -> ReplyStream<Element>) { self.start = start }

    /// Asks for it.
    public func makeAsyncIterator() -> Iterator { Iterator(start()) }

    /// All of it, once the last has come.
    public func array() async throws(BackgroundTimeError) -> [Element] {
        var all: [Element] = []
        var iterator = makeAsyncIterator()
        while let element = try await iterator.next() { all.append(element) }
        if Task.isCancelled { throw .cancelled }
        return all
    }

    /// Reads it.
    public struct Iterator: AsyncIteratorProtocol {
        /// Has the thread end with the last copy of the iterator.
        private final class Reading: Sendable {
            let stream: ReplyStream<Element>
            init(_ stream: ReplyStream<Element>) { self.stream = stream }
            deinit { stream.stop() }

            func next() async throws(BackgroundTimeError) -> Element? {
                defer { withExtendedLifetime(self) {} }
                return try await stream.next()
            }
        }

        private let reading: Reading

        init(_ stream: ReplyStream<Element>) { reading = Reading(stream) }

        /// The next; `nil` after the last.
        public mutating func next() async throws(BackgroundTimeError) -> Element? {
            try await reading.next()
        }

        /// The next; `nil` after the last.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(BackgroundTimeError) -> Element? {
            try await reading.next()
        }
    }
}
