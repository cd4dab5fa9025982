internal import LinuxSystem
internal import Systemd

/// Follows a condition that a thread reads, for as long as this lives.
final class ThreadSensor: ConditionSensor {
    private let thread: SensorThread
    private var source: DescriptorSource?

    init(_ loop: EventLoop, _ thread: SensorThread, _ listener: @escaping Listener) throws {
        self.thread = thread
        source = try loop.addDescriptor(
            thread.descriptor, events: .readable, priority: .clients
        ) { _ in
            switch thread.takeAnswer() {
            case .success(let reading): listener(.success(reading))
            case .failure(let error): listener(.failure(error))
            case nil: break
            }
        }
        try thread.start()
    }

    deinit {
        source?.remove()
        thread.stop()
    }

    /// The thread has not answered yet.
    var reading: ConditionReading? { nil }
}
