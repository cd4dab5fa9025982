/// What is measured together, since it needs the same standing load.
enum Subject: String, CaseIterable {
    case registry, wire, queue, deadlines

    /// Measures once, and prints a line for each figure.
    func measure() throws {
        switch self {
        case .registry: try RegistryLoad.measure()
        case .wire: try WireLoad.measure()
        case .queue: try QueueLoad.measure()
        case .deadlines: try DeadlineLoad.measure()
        }
    }
}
