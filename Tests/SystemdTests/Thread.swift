import Glibc

/// A thread that gives bytes back; for calls that block.
final class Thread: @unchecked Sendable {  // `result` is written before the join and read after it.
    private let body: () -> [UInt8]
    private var result: [UInt8] = []
    private var thread = pthread_t()

    init(_ body: @escaping () -> [UInt8]) {
        self.body = body
        pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument else { return nil }
                let thread = Unmanaged<Thread>.fromOpaque(argument).takeRetainedValue()
                thread.result = thread.body()
                return nil
            },
            Unmanaged.passRetained(self).toOpaque()
        )
    }

    /// Waits for its end.
    func join() -> [UInt8] {
        pthread_join(thread, nil)
        return result
    }
}
