import JSON
import Testing
import TestKit
import Varlink

@Suite("Frames that nobody should send")
struct FuzzTests {
    private static let seeds = [
        #"{"method":"org.bgtaskd.Tasks.Begin","parameters":{"name":"upload","pid":12}}"#,
        #"{"method":"a.B","parameters":\#(Everything.text(["maybe": "1e2"]))}"#,
        #"{"method":"a.B","more":true,"parameters":{"s":"\u00e9\ud83d\ude00\n","n":[-1.5e-3,{}]}}"#,
        #"{"oneway":true,"upgrade":false,"method":"a.B","parameters":{"a":{"b":{"c":[[[null]]]}}}}"#,
    ]

    @Test(
        "100,000 mutated frames never trap, and what is taken reads the same when written",
        arguments: 1...Effort.choose(10)
    )
    func mutated(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for round in 0..<10_000 {
            let original = Self.seeds.randomElement(using: &random) ?? ""
            let mutant = mutate(Array(original.utf8), using: &random)
            var connection = ServerConnection()
            do {
                try connection.receive(mutant + [0])
                while let call = try connection.nextCall() {
                    _ = try? call.decode(Everything.self)
                    guard let value = try? call.value() else {
                        _ = connection.reply(.expectedMore)
                        continue
                    }
                    let again = try JSONDocument(parsing: value.text.utf8).value()
                    #expect(again == value, "seed \(seed), round \(round)")
                    _ = connection.reply(Empty())
                }
            } catch is ProtocolViolation {
                continue
            }
        }
    }

    @Test("mutated interface descriptions never trap", arguments: 1...Effort.choose(10))
    func mutatedDescriptions(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let text = Array(ServiceInterface.text.utf8)
        for _ in 0..<200 {
            let mutant = mutate(text, using: &random)
            _ = try? InterfaceDescription(parsing: String(decoding: mutant, as: UTF8.self))
        }
    }

    @Test("mutated replies never trap a client", arguments: 1...Effort.choose(10))
    func mutatedReplies(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let reply = #"{"parameters":\#(Everything.text()),"continues":true,"error":"a.b.C"}"#
        for _ in 0..<2000 {
            var client = ClientConnection()
            client.call("a.B", Empty(), .more)
            try? client.receive(mutate(Array(reply.utf8), using: &random) + [0])
            while let reply = try? client.nextReply() {
                _ = try? reply.decode(Everything.self)
                _ = try? reply.error?.decode(Everything.self)
            }
        }
    }

    private func mutate(_ bytes: [UInt8], using random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        let interesting =
            Array(#"{}[]",:\u0123456789eE+-.tfn /"#.utf8) + [0, 0x80, 0xC2, 0xED, 0xF4, 0xFF]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard let at = bytes.indices.randomElement(using: &random) else { break }
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[at] = interesting.randomElement(using: &random) ?? 0
            case 2: bytes.remove(at: at)
            case 3: bytes.insert(interesting.randomElement(using: &random) ?? 0, at: at)
            default:
                let end = Int.random(in: at...bytes.count, using: &random)
                bytes.insert(contentsOf: bytes[at..<end], at: at)
            }
        }
        return bytes
    }
}
