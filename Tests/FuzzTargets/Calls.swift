import BudgetCore
import CallFuzz
import TestKit
import Varlink

/// Calls that are made of the interfaces' descriptions, to the parts of the daemon that are pure.
///
/// The bytes are the choices of the generator, two for each.
enum Calls {
    static func run(_ bytes: [UInt8]) {
        var generator = CallGenerator(ByteSource(bytes), processIDs: [4711])
        let daemon = PureDaemon()
        while !generator.random.isExhausted {
            let generated = generator.next()
            daemon.pass(generator.choose(), generator.choose())
            guard let call = CallText.taken(generated.text) else {
                precondition(
                    generated.breaksProtocol, "it is no call: \(generated.text)")
                continue
            }
            for id in daemon.take(call) { generator.known.add(id) }
            daemon.checkAnswers()
        }
        daemon.drain()
    }
}

/// Calls with each field of each method at each of the extremes of its type.
package enum SystematicSequence {
    package static func run() {
        let daemon = PureDaemon()
        let ids = (0..<4).flatMap { _ in
            CallText.taken(CallText.call("org.bgtaskd.Tasks.Begin", "{\"name\":\"fuzzed\"}"))
                .map(daemon.take) ?? []
        }
        SystematicCalls.all(extra: ids) { generated in
            guard let call = CallText.taken(generated.text) else { return }
            _ = daemon.take(call)
            daemon.pass(1, 1)
        }
        daemon.drain()
    }
}

/// Random numbers that bytes choose; some that are always the same once these are used up.
struct ByteSource: RandomNumberGenerator {
    private var rest: ArraySlice<UInt8>
    private var tail = SeededGenerator(seed: 1)

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isExhausted: Bool { rest.isEmpty }

    mutating func next() -> UInt64 {
        guard let first = rest.popFirst() else { return tail.next() }
        let choice = UInt64(first) << 8 | UInt64(rest.popFirst() ?? 0)
        var mixed = SeededGenerator(seed: choice)
        return mixed.next()
    }
}
