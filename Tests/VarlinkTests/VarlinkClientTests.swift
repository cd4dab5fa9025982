import Glibc
import JSON
import Testing
import Varlink

import struct certification_peer.CertificationError
import struct certification_peer.MyType
import enum certification_peer.Start
import enum certification_peer.Test10
import enum certification_peer.Test11

@Suite("The blocking client")
struct VarlinkClientTests {
    private func pair() throws -> (client: Int32, server: Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let result = socketpair(AF_UNIX, type, 0, &ends)
        try #require(result == 0)
        return (ends[0], ends[1])
    }

    @Test("an address is a path, unix: and a path, or an abstract name")
    func addresses() throws {
        for (address, path) in [
            ("/run/a", "/run/a"), ("unix:/run/a", "/run/a"), ("unix:/run/a;mode=0600", "/run/a"),
            ("unix:@name", "@name"), ("@name", "@name"), ("/run/a:b", "/run/a:b"), ("x", "x"),
        ] {
            #expect(try VarlinkClient.path(of: address) == path)
        }
        for address in ["tcp:127.0.0.1:1", "unix:", "exec:x", "unix:;mode=1"] {
            #expect(throws: ClientError.badAddress(address)) {
                try VarlinkClient.path(of: address)
            }
        }
    }

    @Test("a path of 107 bytes is tried, one of 108 is refused")
    func longPath() {
        let path = "/tmp/" + String(repeating: "x", count: 102)
        #expect(throws: ClientError.cannotConnect(path: path, errno: ENOENT)) {
            try VarlinkClient(address: path)
        }
        #expect(throws: ClientError.badAddress(path + "y")) {
            try VarlinkClient(address: path + "y")
        }
        #expect(throws: ClientError.badAddress("")) { try VarlinkClient(address: "") }
    }

    @Test("a service that takes no connections is given up after its timeout")
    func connectTimeout() throws {
        let name = "@bgtaskd-full-\(getpid())"
        let listener = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            for (index, byte) in name.utf8.enumerated() where index > 0 { path[index] = byte }
        }
        let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(length + name.utf8.count))
            }
        }
        try #require(result == 0 && listen(listener, 0) == 0)
        // Of those that nobody has taken it keeps one.
        let first = try VarlinkClient(address: name, connectTimeout: .seconds(60))
        #expect(throws: ClientError.timedOut) {
            _ = try VarlinkClient(address: name, connectTimeout: .milliseconds(20))
        }
        #expect(first.callsWaiting == 0)
    }

    @Test("a service that does not answer is given up after the timeout")
    func timeout() throws {
        let (ours, theirs) = try pair()
        let client = VarlinkClient(adopting: ours, timeout: .milliseconds(20))
        #expect(throws: ClientError.timedOut) { try client.call(Start.self, Empty()) }
        close(theirs)
    }

    @Test("a service that goes away is a disconnection, at whatever moment")
    func disconnection() throws {
        let (ours, theirs) = try pair()
        let client = VarlinkClient(adopting: ours)
        try client.send(Start.self, Empty())
        close(theirs)
        #expect(throws: ClientError.disconnected) { try client.receive(Start.self) }
        #expect(throws: ClientError.disconnected) { try client.call(Start.self, Empty()) }
    }

    @Test("a reply that is not what the method returns is told with its parameter")
    func badReply() throws {
        let (ours, theirs) = try pair()
        let client = VarlinkClient(adopting: ours)
        let bytes = frame(#"{"parameters":{"client_id":1}}"#) + frame("x")
        _ = write(theirs, bytes, bytes.count)
        #expect(
            throws: ClientError.badReply(.init("client_id", .wrongType(expected: "string")))
        ) { try client.call(Start.self, Empty()) }
        #expect(
            throws: ClientError.violation(.notJSON(JSONError(.unexpectedByte, at: 0)))
        ) { try client.call(Start.self, Empty()) }
        #expect(throws: ClientError.noCallWaiting) {
            let (ours, _) = try pair()
            _ = try VarlinkClient(adopting: ours).receive(Start.self)
        }
        close(theirs)
    }

    @Test("with nothing there, receiveIfReady does not wait")
    func notReady() throws {
        let (ours, theirs) = try pair()
        let client = VarlinkClient(adopting: ours)
        try client.send(Start.self, Empty())
        #expect(try client.receiveIfReady(Start.self) == nil)
        let bytes = frame(#"{"parameters":{"client_id":"c"}}"#)
        _ = write(theirs, bytes, bytes.count)
        #expect(try client.receiveIfReady(Start.self)?.output.clientID == "c")
        #expect(client.callsWaiting == 0)
        close(theirs)
    }

    @Test("20,000 calls sent before the first reply is taken are all answered, in order")
    func pipelining() throws {
        let folder = try TemporaryFolder()
        let server = try ChildProcess(certificationPeer, ["serve", folder.path + "/socket"])
        try server.waitForOutput("listening")
        let client = try VarlinkClient(
            address: "unix:" + folder.path + "/socket",
            timeout: .seconds(60)
        )
        for _ in 0..<20_000 { try client.send(Start.self, Empty()) }
        for number in 1...20_000 {
            #expect(try client.receive(Start.self).output.clientID == "client-\(number)")
        }
    }

    @Test("an error of the service is an error of the call, and the connection stays good")
    func remoteError() throws {
        let folder = try TemporaryFolder()
        let server = try ChildProcess(certificationPeer, ["serve", folder.path + "/socket"])
        try server.waitForOutput("listening")
        let client = try VarlinkClient(address: folder.path + "/socket", timeout: .seconds(60))
        let error = #expect(throws: ClientError.self) {
            try client.callMore(Test10.self, .init(clientID: "nobody", mytype: MyType())) {
                _ throws(ClientError) in true
            }
        }
        guard case .remote(let remote) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(remote.name == CertificationError.name)
        #expect(try remote.decode(CertificationError.self).got["method"] == .string(Test10.name))
        try client.callOneway(Test11.self, .init(clientID: "nobody", lastMoreReplies: []))
        #expect(try client.call(Start.self, Empty()).clientID == "client-1")
    }
}
