import BudgetCore
import TestKit
import Testing

@Suite("Whether the machine is idle (rule 24)")
struct IdleDetectorTests {
    /// A machine with nothing to do, but for what is given.
    private func sample(
        cpu: Double? = 0, io: Double? = 0, load: Double = 0, processors: Int = 4
    ) -> LoadSample {
        LoadSample(cpuPressure: cpu, ioPressure: io, loadAverage: load, processors: processors)
    }

    private func judge(_ samples: LoadSample...) -> IdleDetector {
        samples.reduce(into: IdleDetector()) { $0.judge($1) }
    }

    @Test("it is not idle before the first sample, and by one that is low in all it becomes idle")
    func first() {
        #expect(!IdleDetector().isIdle)
        #expect(IdleDetector().reading == nil)
        #expect(judge(sample()).isIdle)
    }

    @Test("it becomes idle only below all low marks, and stops being so above one high mark")
    func marks() {
        let low = sample(cpu: 9.9, io: 9.9, load: 1.9)
        #expect(judge(low).isIdle)
        for one in [sample(cpu: 10), sample(io: 10), sample(load: 2)] {
            #expect(!judge(one).isIdle)
        }
        let high = sample(cpu: 25, io: 25, load: 3)
        #expect(judge(low, high).isIdle)
        for one in [sample(cpu: 25.1), sample(io: 25.1), sample(load: 3.1)] {
            #expect(!judge(low, one).isIdle)
        }
    }

    @Test("between the marks it stays what it was, however often they are crossed half")
    func hysteresis() {
        let between = sample(cpu: 15, io: 20, load: 2.5)
        var judge = judge(sample(cpu: 30))
        for _ in 0..<10 { judge.judge(between) }
        #expect(!judge.isIdle)
        judge.judge(sample())
        for _ in 0..<10 { judge.judge(between) }
        #expect(judge.isIdle)
    }

    @Test("one task that always runs does not make a machine busy", arguments: [1, 2, 4, 64])
    func oneTask(processors: Int) {
        #expect(judge(sample(cpu: 3, load: 1.1, processors: processors)).isIdle)
        #expect(judge(sample(), sample(load: 1.1, processors: processors)).isIdle)
    }

    @Test("as many tasks as processors, and one more, do", arguments: [1, 2, 4, 64])
    func manyTasks(processors: Int) {
        let busy = sample(load: Double(processors + 1), processors: processors)
        #expect(!judge(sample(), busy).isIdle)
    }

    @Test("without pressure figures the load decides alone")
    func loadAlone() {
        #expect(judge(sample(cpu: nil, io: nil)).isIdle)
        #expect(!judge(sample(cpu: nil, io: nil, load: 4)).isIdle)
        #expect(!judge(sample(cpu: nil, io: 90)).isIdle)
    }

    @Test("the reading names the figure and the mark that keep it from being idle")
    func readings() {
        #expect(judge(sample(cpu: 34)).reading == "CPU pressure 34 % is above 25 %")
        #expect(judge(sample(io: 12.5)).reading == "I/O pressure 12.5 % is not below 10 %")
        #expect(
            judge(sample(load: 9)).reading
                == "load per processor (one task left out) 2 is above 0.5")
        #expect(
            judge(sample(cpu: 0.04, io: nil, load: 1.2)).reading
                == "the machine is idle: CPU pressure 0.04 %, load per processor (one task left out) 0.05"
        )
    }

    @Test("odd figures make no trap, and nothing idle", arguments: [Double.nan, .infinity, 1e300])
    func oddFigures(value: Double) {
        #expect(!judge(sample(cpu: value)).isIdle)
        #expect(!judge(sample(load: value, processors: 0)).isIdle)
    }

    @Test(
        "whatever comes, it changes only by crossing a whole band", arguments: 0..<Effort.choose(20)
    )
    func anySamples(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var judge = IdleDetector()
        for _ in 0..<500 {
            let before = judge.isIdle
            let one = sample(
                cpu: .random(in: 0...40, using: &random), io: .random(in: 0...40, using: &random),
                load: .random(in: 0...4, using: &random))
            judge.judge(one)
            let pressures = [one.cpuPressure ?? 0, one.ioPressure ?? 0]
            let load = IdleDetector.loadPerProcessor(one)
            let isLow = pressures.allSatisfy { $0 < 10 } && load < 0.25
            let isHigh = pressures.contains { $0 > 25 } || load > 0.5
            #expect(judge.isIdle == (isLow || before && !isHigh), "seed \(seed)")
        }
    }
}
