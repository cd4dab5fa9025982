import Foundation
import TaskAPI
import TestKit
import Testing

/// What docs/protocol.md shows of the protocol, tried on a daemon.
@Suite("docs/protocol.md", .timeLimit(.minutes(5)))
struct ProtocolPageTests {
    @Test("its Python programs do what is written below them")
    func programs() throws {
        let programs = try Self.programs()
        try #require(programs.count == 2)
        let daemon = try Daemon()
        for program in programs {
            let (status, text) = try Program(
                "/usr/bin/env", ["python3", "-c", program.code],
                variables: ["BGTASK_SOCKET": daemon.socket]
            ).waitForEnd()
            #expect(status == 0, "\(text)")
            #expect(text == program.output)
        }
    }

    @Test("bgtaskctl introspect says byte for byte what the interfaces' files do")
    func introspection() throws {
        let daemon = try Daemon()
        let names = try introspect(daemon).split(separator: "\n").map(String.init)
        #expect(names.sorted() == (Interfaces.texts.keys + ["org.varlink.service"]).sorted())
        for (name, text) in Interfaces.texts {
            let file = Place.examples + "/../Sources/TaskAPI/interfaces/\(name).varlink"
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
            #expect(try introspect(daemon, name) == text, "\(name)")
        }
    }

    private func introspect(_ daemon: Daemon, _ interface: String...) throws -> String {
        let (status, text) = try Program(
            Programs.path("bgtaskctl"), ["introspect"] + interface,
            variables: ["BGTASK_SOCKET": daemon.socket]
        ).waitForEnd()
        #expect(status == 0, "\(text)")
        return text
    }

    /// The blocks of Python, each with the block that follows it.
    private static func programs() throws -> [(code: String, output: String)] {
        let page = try String(
            contentsOfFile: Place.examples + "/../docs/protocol.md", encoding: .utf8)
        let blocks = page.components(separatedBy: "\n```")
        // Before, inside, between, inside, ...: every second one is code, behind the name of its language.
        return stride(from: 1, to: blocks.count - 2, by: 2).compactMap { index in
            guard blocks[index].hasPrefix("python\n") else { return nil }
            return (
                String(blocks[index].dropFirst("python\n".count)),
                String(blocks[index + 2].dropFirst()) + "\n"
            )
        }
    }
}
