/// A signal by its number, as signal(7) has it.
package struct SignalNumber: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package static let terminate = SignalNumber(rawValue: 15)
    package static let kill = SignalNumber(rawValue: 9)
    package static let stop = SignalNumber(rawValue: 19)
    package static let goOn = SignalNumber(rawValue: 18)

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }
}

/// How the main process of a run task ended.
package enum ProcessExit: Hashable, Sendable {
    case status(Int32)
    case signal(SignalNumber)
}

/// What the processes of a run task used of the machine, as the kernel counted it.
package struct ResourceUse: Hashable, Sendable {
    package var cpu: Duration
    /// The most memory that they held at one time; `nil` where nothing counted it for them alone.
    package var memoryPeakBytes: Int?

    package init(cpu: Duration, memoryPeakBytes: Int? = nil) {
        self.cpu = cpu
        self.memoryPeakBytes = memoryPeakBytes
    }
}
