internal import LinuxSystem

/// Reads whether there is a default route.
final class NetworkProbe: ConditionProbe {
    private let routes: RouteWatch

    init() throws(SystemError) {
        routes = try RouteWatch()
    }

    var descriptor: Int32? { routes.descriptor }
    var interval: Duration? { nil }

    func read() throws(SystemError) -> ConditionReading? {
        try routes.read()
        switch routes.state {
        case .unknown: return nil
        case .none: return ConditionReading(holds: false, text: "there is no default route")
        case .through(let interface?):
            return ConditionReading(
                holds: true, text: "there is a default route by \(interface.printable)")
        case .through(nil): return ConditionReading(holds: true, text: "there is a default route")
        }
    }
}

extension String {
    /// Without what a terminal would obey: names of interfaces and devices may hold almost anything.
    var printable: String {
        String(
            decoding: utf8.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") },
            as: UTF8.self)
    }
}
