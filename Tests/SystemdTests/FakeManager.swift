import CSystemd
import Glibc
import Systemd

/// A service manager that answers as a test wants it to; it lives in the same loop as who asks it.
final class FakeManager {
    /// What a method, or a property where it is `Get`, is answered with.
    enum Answer {
        case nothing
        case object(String)
        /// A unit's job.
        case job(UInt32, String)
        case text(String)
        case flag(Bool)
        case number(UInt64)
        case refusal(String, String)
        /// None at all.
        case silence
        case hangUp
    }

    private let socket: BoundSocket
    private let loop: EventLoop
    private var buses: [OpaquePointer] = []
    var answers: [String: Answer] = [:]
    /// The methods that came, with the unit's name or the property's.
    private(set) var calls: [String] = []
    private(set) var connections = 0
    /// Called when a connection was closed by the other side.
    var closed: () -> Void = {}

    init(in loop: EventLoop) throws {
        self.loop = loop
        socket = try BoundSocket(SOCK_STREAM, listening: true)
        try loop.addDescriptor(socket.descriptor, events: .readable, priority: .clients) {
            [weak self] _ in try self?.accept()
        }
    }

    deinit {
        for bus in buses { sd_bus_close_unref(bus) }
    }

    var address: ManagerAddress { ManagerAddress(path: socket.path, owner: geteuid()) }

    private func accept() throws {
        let descriptor = Glibc.accept(socket.descriptor, nil, nil)
        var bus: OpaquePointer?
        var id = sd_id128_t()
        guard descriptor >= 0, sd_bus_new(&bus) >= 0, let bus, sd_id128_randomize(&id) >= 0,
            sd_bus_set_fd(bus, descriptor, descriptor) >= 0, sd_bus_set_server(bus, 1, id) >= 0,
            sd_bus_add_filter(
                bus, nil,
                { message, userData, _ in
                    guard let message, let userData else { return 0 }
                    return Unmanaged<FakeManager>.fromOpaque(userData).takeUnretainedValue()
                        .receive(message)
                },
                Unmanaged.passUnretained(self).toOpaque()) >= 0, sd_bus_start(bus) >= 0
        else { throw SystemdError(operation: "accept", errno: errno) }
        connections += 1
        buses.append(bus)
        var source: DescriptorSource?
        let turn = { [weak self] in
            while true {
                let done = sd_bus_process(bus, nil)
                if done > 0, sd_bus_is_open(bus) > 0 { continue }
                if done == 0 { return }
                source?.remove()
                source = nil
                self?.end(bus)
                return
            }
        }
        source = try loop.addDescriptor(descriptor, events: .readable, priority: .clients) {
            _ in turn()
        }
        // The start has read what came already, and there is an answer to write.
        turn()
    }

    private func end(_ bus: OpaquePointer) {
        buses.removeAll { $0 == bus }
        sd_bus_close_unref(bus)
        closed()
    }

    private func receive(_ message: OpaquePointer) -> Int32 {
        guard let member = sd_bus_message_get_member(message).map({ String(cString: $0) }) else {
            return 0
        }
        let received = ReceivedMessage(pointer: message)
        // Without parameters: the Hello of who takes us for a bus.
        guard let first = received.text("s") ?? received.number().map(String.init) else { return 1 }
        let key = member == "Get" ? received.text("s") ?? "" : member
        calls.append("\(member) \(member == "Get" ? key : first)")
        return answer(message, answers[key] ?? .silence)
    }

    private func answer(_ message: OpaquePointer, _ answer: Answer) -> Int32 {
        var reply: OpaquePointer?
        if case .refusal(let name, let words) = answer {
            var error = sd_bus_error()
            sd_bus_error_set(&error, name, words)
            sd_bus_message_new_method_error(message, &reply, &error)
            sd_bus_error_free(&error)
        } else {
            sd_bus_message_new_method_return(message, &reply)
        }
        guard let reply else { return -ENOMEM }
        let writer = BusMessage(reply)
        do {
            switch answer {
            case .silence: return 1
            case .hangUp:
                shutdown(sd_bus_get_fd(sd_bus_message_get_bus(message)), Int32(SHUT_RDWR))
                return 1
            case .nothing, .refusal: break
            case .object(let path):
                _ = path.withCString {
                    sd_bus_message_append_basic(reply, BusMessage.code("o"), $0)
                }
            case .job(let number, let path):
                try writer.container("v", of: "(uo)") {
                    try? writer.container("r", of: "uo") {
                        try? writer.append(number)
                        _ = path.withCString {
                            sd_bus_message_append_basic(reply, BusMessage.code("o"), $0)
                        }
                    }
                }
            case .text(let text): try writer.container("v", of: "s") { try? writer.append(text) }
            case .flag(let flag): try writer.container("v", of: "b") { try? writer.append(flag) }
            case .number(var number):
                try writer.container("v", of: "t") {
                    sd_bus_message_append_basic(reply, BusMessage.code("t"), &number)
                }
            }
        } catch { return -EINVAL }
        return sd_bus_send(nil, reply, nil) < 0 ? -EIO : 1
    }
}
