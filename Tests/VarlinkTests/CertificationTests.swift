import Glibc
import Testing
import Varlink

import struct certification_peer.CertificationError
import struct certification_peer.CertificationService
import enum certification_peer.Start
import enum certification_peer.Test01
import enum certification_peer.Test05
import enum certification_peer.Test06
import enum certification_peer.Test09
import enum certification_peer.Test10
import enum certification_peer.Test11

/// A Python that has the package `varlink`; `make test` sets it up.
private let python = getenv("VARLINK_PYTHON").map { String(cString: $0) }
private let isContinuousIntegration = getenv("CI").map { String(cString: $0) } == "true"

@Suite("The certification of Varlink")
struct CertificationTests {
    @Test("VARLINK_PYTHON is set where the tests have to be complete")
    func complete() {
        #expect(
            python != nil || !isContinuousIntegration,
            "set VARLINK_PYTHON to a Python with varlink 31.0.0 (make test does)"
        )
    }

    @Test(
        "the reference's client passes against our server",
        .enabled(if: python != nil, "VARLINK_PYTHON is not set")
    )
    func referenceClient() throws {
        let folder = try TemporaryFolder()
        let socket = folder.path + "/socket"
        let server = try ChildProcess(certificationPeer, ["serve", socket])
        try server.waitForOutput("listening")
        let client = try ChildProcess(
            try #require(python),
            [
                "-u", "-m", "varlink.tests.test_certification", "--client",
                "--varlink=unix:\(socket)",
            ]
        )
        #expect(try client.waitForEnd() == 0, "\(client.text)")
        #expect(client.text.contains("Certification passed"), "\(client.text)")
    }

    @Test(
        "our client passes against the reference's server",
        .enabled(if: python != nil, "VARLINK_PYTHON is not set")
    )
    func referenceServer() throws {
        let folder = try TemporaryFolder()
        let socket = folder.path + "/socket"
        let server = try ChildProcess(
            try #require(python),
            ["-u", "-m", "varlink.tests.test_certification", "--varlink=unix:\(socket)"]
        )
        try server.waitForOutput("Listening on")
        let client = try ChildProcess(certificationPeer, ["call", "unix:\(socket)"])
        #expect(try client.waitForEnd() == 0, "\(client.text)\n\(server.text)")
        #expect(client.text.contains("certification passed"))
    }

    @Test("our client passes against our server")
    func ours() throws {
        let folder = try TemporaryFolder()
        let socket = folder.path + "/socket"
        let server = try ChildProcess(certificationPeer, ["serve", socket])
        try server.waitForOutput("listening")
        let client = try ChildProcess(certificationPeer, ["call", socket])
        #expect(try client.waitForEnd() == 0, "\(client.text)")
    }

    @Test("the messages of the certification are what its text says")
    func messages() throws {
        let text = try InterfaceDescription(parsing: CertificationService.description)
        #expect(text.differences(of: Start.self) == [])
        #expect(text.differences(of: Test01.self) == [])
        #expect(text.differences(of: Test05.self) == [])
        #expect(text.differences(of: Test06.self) == [])
        #expect(text.differences(of: Test09.self) == [])
        #expect(text.differences(of: Test10.self) == [])
        #expect(text.differences(of: Test11.self) == [])
        #expect(text.differences(ofError: CertificationError.name, CertificationError.self) == [])
    }
}
