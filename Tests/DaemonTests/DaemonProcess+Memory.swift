import Testing

extension DaemonProcess {
    /// What a flood may take: the limits allow one owner twice 32 MiB of buffers, beside the daemon
    /// itself. In KiB.
    static let memoryMax = 96 << 10

    /// Expects that the daemon has never had more memory than that.
    func expectBounded(
        to memoryMax: Int = DaemonProcess.memoryMax,
        location: SourceLocation = #_sourceLocation
    ) {
        let peak = Processes.status("VmHWM", of: processID)
        #expect(peak < memoryMax, "\(peak) KiB", sourceLocation: location)
    }
}
