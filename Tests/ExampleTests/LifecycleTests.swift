import Foundation
import TaskAPI
import TestKit
import Testing
import Varlink

/// The program is that of another package, so that this one has no dependency on swift-service-lifecycle.
@Suite("A service of swift-service-lifecycle")
struct LifecycleTests {
    /// Built beside the tests, and again only where something has changed.
    private static let program = Result {
        let here = URL(fileURLWithPath: Place.top).lastPathComponent
        let package = DependentPackage(
            at: Programs.buildFolder + "/lifecycle-check",
            dependency: ".package(path: \"\(Place.top)\", traits: [\"ServiceLifecycle\"])",
            others: [
                ".package(url: \"https://github.com/swift-server/swift-service-lifecycle\", from: \"2.13.0\")",
                ".package(url: \"https://github.com/apple/swift-log\", from: \"1.16.2\")",
            ],
            products: [
                (name: "BackgroundTime", package: here),
                (name: "BackgroundTimeLifecycle", package: here),
                (name: "Logging", package: "swift-log"),
                (name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ])
        try package.write(program: Place.top + "/Tests/Helpers/lifecycle-check/main.swift")
        let text = try package.build()
        #expect(!text.contains("warning:"), "\(text)")
        return package.program
    }

    @Test(
        "lets what is held finish when it is to stop, and what is stuck be over at its handler",
        .enabled(if: Programs.folder == Programs.buildFolder, "it is built once"))
    func stops() throws {
        let daemon = try Daemon()
        let manager = try NotifySocket(daemon.folder + "/notify")
        let client = try VarlinkClient(address: daemon.socket, timeout: .seconds(300))
        let program = try Program(
            Self.program.get(), [daemon.socket], variables: ["NOTIFY_SOCKET": manager.path],
            takesInput: true)
        var ids: [String: Int] = [:]
        let areHeld = try (0..<1_000_000).contains { _ in
            let tasks = try client.call(Tasks.List.self, Tasks.List.Input()).tasks ?? []
            ids = Dictionary(uniqueKeysWithValues: tasks.map { ($0.name, $0.id) })
            return tasks.count == 3
        }
        try #require(areHeld)

        program.signal(SIGTERM)
        for _ in 0..<3 {
            let message = try manager.receive()
            let time = try #require(message.wholeMatch(of: /EXTEND_TIMEOUT_USEC=([0-9]+)/)?.1)
            // The rest of 400 seconds, and some for the end of the process.
            #expect((5_000_000...405_000_000).contains(Int(time) ?? 0))
        }
        program.say("\n")
        #expect(program.waitForOutput("reads: done\n"))
        try simulateExpiration(of: ids["stuck"], client)
        #expect(program.waitForOutput("stuck: the time of stuck was up (expired)\n"))
        try simulateExpiration(of: ids["ignores"], client)
        let end = program.waitForEnd()
        #expect(end.status == 0 && end.text.contains("all has stopped\n"), "\(end.text)")
        var list = Tasks.List.Input()
        list.ended = true
        let ended = try client.call(Tasks.List.self, list).tasks ?? []
        // The job that was handed in meanwhile is not among them.
        let outcomes = Dictionary(uniqueKeysWithValues: ended.map { ($0.name, $0.outcome) })
        #expect(outcomes == ["reads": .completed, "stuck": .expired, "ignores": .overrun])
    }

    private func simulateExpiration(of id: Int?, _ client: VarlinkClient) throws {
        var input = Tasks.Reference()
        input.id = try #require(id)
        _ = try client.call(Tasks.SimulateExpiration.self, input)
    }
}

/// Takes the place of the service manager's socket.
private final class NotifySocket {
    let path: String
    private let descriptor: Int32

    struct Failed: Error { let errno: Int32 }

    init(_ path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Failed(errno: errno) }
    }

    deinit { close(descriptor) }

    /// Waits for the next message.
    func receive() throws -> String {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var bytes = [UInt8](repeating: 0, count: 4096)
        guard poll(&request, 1, 60_000) == 1 else { throw Failed(errno: ETIMEDOUT) }
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw Failed(errno: errno) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }
}
