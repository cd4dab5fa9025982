import Glibc
import TestKit

/// The service manager's end of sd_notify(3), in a test.
final class NotifySocket {
    let path: String
    private let descriptor: Int32
    /// All that has come, each a message with its assignments.
    private var messages: [[String: String]] = []
    /// How many of them a test has had or passed over.
    private var taken = 0

    init(in folder: TemporaryFolder) throws {
        path = folder.path + "/notify"
        descriptor = socket(
            AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        let bound = withSocketAddress(path) { bind(descriptor, $0, $1) }
        guard bound == 0 else { throw Child.CannotStart(program: path, errno: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// Waits for a message with an assignment, and gives it; those before it are dropped.
    func next(with name: String, _ value: String? = nil) throws -> [String: String] {
        var found: [String: String]?
        try eventually("the daemon says \(name)=\(value ?? "…")") {
            receive()
            while found == nil, taken < messages.count {
                let message = messages[taken]
                taken += 1
                if let told = message[name], value == nil || told == value { found = message }
            }
            return found != nil
        }
        return found ?? [:]
    }

    /// Waits for a status that `isMeant`; messages before it are dropped.
    @discardableResult
    func status(_ isMeant: (String) -> Bool) throws -> String {
        while true {
            let status = try next(with: "STATUS")["STATUS"] ?? ""
            if isMeant(status) { return status }
        }
    }

    /// Whether a message has come with such a status.
    func hasStatus(_ isMeant: (String) -> Bool) -> Bool {
        receive()
        return messages.contains { $0["STATUS"].map(isMeant) == true }
    }

    /// Whether an assignment came in a later message than the first with another.
    func hasHad(_ name: String, after first: String) -> Bool {
        receive()
        guard let start = messages.firstIndex(where: { $0[first] != nil }) else { return false }
        return messages[(start + 1)...].contains { $0[name] != nil }
    }

    private func receive() {
        var buffer = [UInt8](repeating: 0, count: 8192)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            var message: [String: String] = [:]
            let text = String(decoding: buffer.prefix(count), as: UTF8.self)
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
                message[parts[0]] = parts.count > 1 ? parts[1] : ""
            }
            messages.append(message)
        }
    }
}
