import FuzzTargets
import TestKit
import Testing

@Suite("Sequences of calls at the extremes")
struct CallSequenceTests {
    @Test("each field of each method is taken without harm at each of its extremes")
    func extremes() {
        SystematicSequence.run()
    }

    @Test("random sequences are taken without harm by what reads calls and by the registry")
    func sequences() {
        for seed in UInt64(0)..<Effort.choose(12, 20_000) {
            var random = SeededGenerator(seed: seed)
            let bytes = (0..<2048).map { _ in UInt8.random(in: 0...255, using: &random) }
            FuzzTarget.calls.run(bytes)
        }
    }
}
